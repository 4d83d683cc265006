// What the service uses of Node's HTTP. Imported as a module, it would load the platform's fetch for one of its exports.
export const { Agent: HttpAgent, createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http')
