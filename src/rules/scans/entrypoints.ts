// Where code is entered: routes, commands, programs and exported symbols, found by the lines that declare them.
import type { Language } from './languages.ts'

/** The first place of a file at which it is entered; a route says more than a program, and that more than an export. */
export type Entrypoint = { route?: string; command?: string; symbol?: string }

const scriptRoute =
  /\b(?:app|router|server|fastify|api)\.(?:get|post|put|patch|delete|all|use)\([ \t]*["'`](\/[^"'`\n]{0,200})["'`]/i
const decoratorRoute =
  /^[ \t]*@(?:[\w.]{1,60}\.)?(?:route|get|post|put|patch|delete|websocket|(?:Request|Get|Post|Put|Patch|Delete)Mapping|WebServlet|Path)\([^"'\n)]{0,80}["']([^"'\n]{0,200})["']/m
const goRoute =
  /\.(?:HandleFunc|Handle|GET|POST|PUT|PATCH|DELETE|Get|Post|Put|Patch|Delete|Any)\([ \t]*"((?:[A-Z]+ )?\/[^"\n]{0,200})"/

const routes: Partial<Record<Language, RegExp>> = {
  javascript: scriptRoute,
  typescript: scriptRoute,
  tsx: scriptRoute,
  python: decoratorRoute,
  java: decoratorRoute,
  kotlin: decoratorRoute,
  csharp: /^[ \t]*\[(?:Route|Http(?:Get|Post|Put|Patch|Delete))\("([^"\n]{0,200})"/m,
  go: goRoute,
  ruby: /^[ \t]*(?:get|post|put|patch|delete|match)[ \t]+["'](\/?[^"'\n]{1,200})["']/m,
  php: /\bRoute::(?:get|post|put|patch|delete|any|match)\([^"'\n]{0,40}["']([^"'\n]{1,200})["']/,
  rust: /(?:\.route\(|#\[(?:get|post|put|patch|delete)\()[ \t]*"([^"\n]{1,200})"/,
}

const scriptExport =
  /^export[ \t]+(?:default[ \t]+)?(?:async[ \t]+)?(?:abstract[ \t]+)?(?:function\*?|class|const|let|interface|type|enum)[ \t]+([\w$]{1,120})/m
const jvmExport =
  /^[ \t]*(?:public[ \t]+)?(?:abstract[ \t]+|final[ \t]+|sealed[ \t]+|data[ \t]+|open[ \t]+)*(?:class|interface|enum|record|object)[ \t]+(\w{1,120})/m

const symbols: Partial<Record<Language, RegExp>> = {
  javascript: scriptExport,
  typescript: scriptExport,
  tsx: scriptExport,
  python: /^(?:async[ \t]+)?(?:def|class)[ \t]+([A-Za-z]\w{0,120})/m,
  go: /^(?:func[ \t]+(?:\([^)\n]{0,120}\)[ \t]*)?|type[ \t]+)([A-Z]\w{0,120})/m,
  java: jvmExport,
  kotlin: jvmExport,
  scala: jvmExport,
  csharp: jvmExport,
  swift: jvmExport,
  ruby: /^[ \t]*(?:class|module)[ \t]+([\w:]{1,120})/m,
  php: /^[ \t]*(?:abstract[ \t]+|final[ \t]+)?(?:class|interface|trait|function)[ \t]+(\w{1,120})/m,
  rust: /^[ \t]*pub(?:\([\w: ]+\))?[ \t]+(?:async[ \t]+|unsafe[ \t]+)*(?:fn|struct|enum|trait)[ \t]+(\w{1,120})/m,
  c: /^[A-Za-z_][\w \t*]{0,80}[ \t*](\w{1,80})\([^;\n]{0,200}\)[ \t]*\{?[ \t]*$/m,
  cpp: /^[A-Za-z_][\w \t*:<>&]{0,80}[ \t*&]([\w:]{1,80})\([^;\n]{0,200}\)[ \t]*\{?[ \t]*$/m,
}

const programs: Partial<Record<Language, RegExp>> = {
  python: /^if __name__ ==/m,
  go: /^func main\(\)/m,
  java: /\bpublic static void main\(/,
  rust: /^(?:async )?fn main\(\)/m,
  c: /^int main\(/m,
  cpp: /^int main\(/m,
}

/** Undefined: the file declares nothing that others enter. */
export function findEntrypoint(language: Language, text: string): Entrypoint | undefined {
  const route = routes[language]?.exec(text)?.[1]
  const symbol = symbols[language]?.exec(text)?.[1]
  const named = symbol === undefined ? {} : { symbol }
  if (route !== undefined) return { route: route === '' ? '/' : route, ...named }
  if (programs[language]?.test(text) || (language === 'shell' && text.startsWith('#!')))
    return { command: 'main', ...named }
  return symbol === undefined ? undefined : named
}
