import { pythonValue, shellQuote } from '../models/code-examples.ts'

/** The languages of a request by their names in addresses. */
export const codeLanguages = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const
export type CodeLanguage = keyof typeof codeLanguages

/** The ways to send a body: JSON, the fields of a form, or a file. */
export type BodyKind = 'json' | 'form' | 'multipart' | 'file'

/** A request of the API reference. In a multipart body, `@name` stands for a file. */
export interface CodeRequest {
  method: string
  url: string
  hasKey: boolean
  json?: string
  form?: Record<string, string>
  multipart?: Record<string, string>
  file?: string
}

/** Returns a request as code that runs as is, with the API key in the environment variable KEY. */
export function requestCode(language: CodeLanguage, request: CodeRequest): string {
  if (language === 'curl') return curlCode(request)
  return language === 'python' ? pythonCode(request) : typeScriptCode(request)
}

/** Returns the value of a JSON text; undefined for another text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the media type that the client has to name. */
const contentType = ({ json, file }: CodeRequest): string | undefined => {
  if (json !== undefined) return 'application/json'
  return file === undefined ? undefined : 'application/octet-stream'
}

/** Checks whether a text needs no quotes in a shell. */
const isPlain = (text: string): boolean => /^[\w:/.@-]+$/.test(text)

function curlCode(request: CodeRequest): string {
  const { method, url, hasKey, json, form, multipart, file } = request
  const type = contentType(request)
  const pairs = (fields: Record<string, string>, flag: string): string[] =>
    Object.entries(fields).map(([name, value]) => `${flag} ${shellQuote(`${name}=${value}`)}`)
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${isPlain(url) ? url : shellQuote(url)}`,
    ...(hasKey ? ['-H "authorization: Bearer $KEY"'] : []),
    ...(type ? [`-H 'content-type: ${type}'`] : []),
    ...(json === undefined ? [] : [`-d ${shellQuote(json)}`]),
    ...pairs(form ?? {}, '--data-urlencode'),
    ...pairs(multipart ?? {}, '-F'),
    ...(file === undefined ? [] : [`--data-binary ${shellQuote(`@${file}`)}`]),
  ].join(' \\\n  ')
}

const indented = (text: string): string => text.replaceAll('\n', '\n  ')
const isFile = (value: string): boolean => value.startsWith('@')

function typeScriptBody({ json, form, multipart, file }: CodeRequest): string | undefined {
  if (json !== undefined) {
    const value = parsed(json)
    return value === undefined
      ? JSON.stringify(json)
      : `JSON.stringify(${indented(JSON.stringify(value, null, 2))})`
  }
  if (form) return `new URLSearchParams(${indented(JSON.stringify(form, null, 2))})`
  if (file !== undefined) return `await openAsBlob('${file}')`
  return multipart && 'form'
}

function typeScriptCode(request: CodeRequest): string {
  const { method, url, hasKey, multipart = {}, file } = request
  const type = contentType(request)
  const body = typeScriptBody(request)
  const headers = [
    ...(hasKey ? ['    authorization: `Bearer ${process.env.KEY}`,'] : []),
    ...(type ? [`    'content-type': '${type}',`] : []),
  ]
  const sets = Object.entries(multipart).map(([name, value]) =>
    isFile(value)
      ? `form.set('${name}', await openAsBlob('${value.slice(1)}'), '${value.slice(1)}')\n`
      : `form.set('${name}', ${JSON.stringify(value)})\n`,
  )
  const options = [
    `  method: '${method}',`,
    ...(headers.length > 0 ? [`  headers: {\n${headers.join('\n')}\n  },`] : []),
    ...(body === undefined ? [] : [`  body: ${body},`]),
  ]
  const hasFile = file !== undefined || Object.values(multipart).some(isFile)
  return [
    hasFile ? `import { openAsBlob } from 'node:fs'\n\n` : '',
    request.multipart ? `const form = new FormData()\n${sets.join('')}` : '',
    `const response = await fetch('${url}', {\n${options.join('\n')}\n})\n`,
    'console.log(response.status, await response.text())',
  ].join('')
}

function pythonBody({ json, form, multipart, file }: CodeRequest): string[] {
  if (json !== undefined) {
    const value = parsed(json)
    return value === undefined
      ? [`content=${JSON.stringify(json)}`]
      : [`json=${pythonValue(value, 4)}`]
  }
  if (form) return [`data=${pythonValue(form, 4)}`]
  if (file !== undefined) return [`content=open(${JSON.stringify(file)}, "rb")`]
  if (!multipart) return []
  const all = Object.entries(multipart)
  const files = all.filter(([, value]) => isFile(value))
  const others = all.filter(([, value]) => !isFile(value))
  const opened = files.map(
    ([name, value]) => `${JSON.stringify(name)}: open(${JSON.stringify(value.slice(1))}, "rb")`,
  )
  return [
    ...(others.length > 0 ? [`data=${pythonValue(Object.fromEntries(others), 4)}`] : []),
    ...(files.length > 0 ? [`files={${opened.join(', ')}}`] : []),
  ]
}

function pythonCode(request: CodeRequest): string {
  const { method, url, hasKey, json, file } = request
  const type = contentType(request)
  const isNamed = file !== undefined || (json !== undefined && parsed(json) === undefined)
  const headers = {
    ...(hasKey && { authorization: '"Bearer " + os.environ["KEY"]' }),
    ...(isNamed && type && { 'content-type': `"${type}"` }),
  }
  const named = Object.entries(headers).map(([name, value]) => `"${name}": ${value}`)
  const lines = [
    `"${method}"`,
    JSON.stringify(url),
    ...(named.length > 0 ? [`headers={${named.join(', ')}}`] : []),
    ...pythonBody(request),
    'timeout=60',
  ]
  return `${hasKey ? 'import os\n\n' : ''}import httpx

response = httpx.request(
${lines.map((line) => `    ${line},`).join('\n')}
)
print(response.status_code, response.text)`
}
