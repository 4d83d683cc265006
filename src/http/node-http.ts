// What this room uses of Node's HTTP server. Imported as a module, it would load the platform's fetch for one of its exports.
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')
