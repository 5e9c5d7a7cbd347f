import { modePaths, type RequestMode } from './modes.ts'

/** The languages of the examples by their names in addresses. */
export const languages = { curl: 'curl', python: 'Python', javascript: 'JavaScript' } as const
export type Language = keyof typeof languages

export interface ExampleRequest {
  mode: RequestMode
  /** The URL of the gateway. */
  gateway: string
  /** The JSON body; the form fields beside the file of a transcription. */
  body: Record<string, unknown>
}

/**
 * Returns a request as code that runs as is, with the API key in the environment variable KEY. The
 * model pages and the playground use it.
 */
export function codeExample(language: Language, request: ExampleRequest): string {
  if (language === 'curl') return curlExample(request)
  return language === 'python' ? pythonExample(request) : javascriptExample(request)
}

/** Returns the body of a first request to a model. */
export function exampleBody(mode: RequestMode, model: string): Record<string, unknown> {
  if (mode === 'chat') return { model, messages: [{ role: 'user', content: 'Name a small boat.' }] }
  if (mode === 'image') return { model, prompt: 'A small boat at dusk' }
  if (mode === 'video') return { model, prompt: 'A small boat in the wind', duration: '4' }
  if (mode === 'speech') {
    return { model, input: 'The boat is ready.', voice: 'alloy', response_format: 'wav' }
  }
  if (mode === 'rerank') {
    return { model, query: 'a small boat', documents: ['A dinghy', 'A container ship'] }
  }
  return mode === 'transcription' ? { model } : { model, input: 'A small boat' }
}

const audioName = 'audio.mp3'
const speechFile = ({ body }: ExampleRequest): string =>
  `speech.${String(body['response_format'] ?? 'mp3')}`

/** Quotes a text for a POSIX shell. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function curlExample(request: ExampleRequest): string {
  const { mode, gateway, body } = request
  const start = `curl ${gateway}/v1${modePaths[mode]} \\\n  -H "authorization: Bearer $KEY"`
  if (mode === 'transcription') {
    const fields = Object.entries({ ...body, file: `@${audioName}` })
    return [
      start,
      ...fields.map(([name, value]) => `-F ${shellQuote(`${name}=${String(value)}`)}`),
    ].join(' \\\n  ')
  }
  const json = shellQuote(JSON.stringify(body, null, 2))
  const whole = `${start} \\\n  -H 'content-type: application/json' \\\n  -d ${json}`
  if (mode === 'speech') return `${whole} \\\n  -o ${speechFile(request)}`
  return mode === 'video'
    ? `${whole}\n\n# Repeat with the "id" of the response until "status" is "completed".\ncurl ${gateway}/v1/videos/$ID -H "authorization: Bearer $KEY"`
    : whole
}

/** Fields that OpenAI's Python client takes as arguments; others go to `extra_body`. */
const pythonFields: Partial<Record<RequestMode, string[]>> = {
  image: ['model', 'prompt', 'size', 'n'],
  embedding: ['model', 'input', 'dimensions'],
}

function pythonExample(request: ExampleRequest): string {
  const { mode, gateway, body } = request
  if (mode === 'video') return pythonVideo(request)
  if (mode === 'rerank') return pythonRerank(request)
  const known = pythonFields[mode] ?? Object.keys(body)
  const extra = Object.entries(body).filter(([name]) => !known.includes(name))
  const lines = [
    ...Object.entries(body)
      .filter(([name]) => known.includes(name))
      .map(([name, value]) => `    ${name}=${pythonValue(value, 4)},`),
    ...(mode === 'transcription' ? [`    file=open("${audioName}", "rb"),`] : []),
    ...(extra.length > 0 ? [`    extra_body=${pythonValue(Object.fromEntries(extra), 4)},`] : []),
  ]
  const start = `import os
from openai import OpenAI

client = OpenAI(base_url="${gateway}/v1", api_key=os.environ["KEY"])
response = client.${clientCalls[mode]}(
${lines.join('\n')}
)
`
  return start + pythonResults(request)[mode]
}

/** The requests that OpenAI's clients have methods for. */
type ClientMode = Exclude<RequestMode, 'video' | 'rerank'>

/** The method of OpenAI's clients. */
const clientCalls: Record<ClientMode, string> = {
  chat: 'chat.completions.create',
  image: 'images.generate',
  speech: 'audio.speech.create',
  transcription: 'audio.transcriptions.create',
  embedding: 'embeddings.create',
  moderation: 'moderations.create',
}

const pythonResults = (request: ExampleRequest): Record<ClientMode, string> => ({
  chat: 'print(response.choices[0].message.content)',
  image: 'print(response.data[0].url)',
  speech: `response.write_to_file("${speechFile(request)}")`,
  transcription: 'print(response.text)',
  embedding: 'print(len(response.data[0].embedding))',
  moderation: 'print(response.results[0].flagged)',
})

/** Formats a JSON value as Python, whose literals differ in three words. */
export function pythonValue(value: unknown, indent: number): string {
  const pad = ' '.repeat(indent)
  const inner = ' '.repeat(indent + 4)
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null) return 'None'
  if (Array.isArray(value)) {
    const items = value.map((item) => `${inner}${pythonValue(item, indent + 4)},`)
    return `[\n${items.join('\n')}\n${pad}]`
  }
  if (typeof value === 'object') {
    const items = Object.entries(value ?? {}).map(
      ([name, item]) => `${inner}${JSON.stringify(name)}: ${pythonValue(item, indent + 4)},`,
    )
    return `{\n${items.join('\n')}\n${pad}}`
  }
  return JSON.stringify(value)
}

const pythonVideo = ({ gateway, body }: ExampleRequest): string => `import os
import time
import httpx

headers = {"authorization": "Bearer " + os.environ["KEY"]}
with httpx.Client(base_url="${gateway}/v1", headers=headers, timeout=60) as client:
    video = client.post("/videos", json=${pythonValue(body, 4)}).raise_for_status().json()
    while video["status"] == "pending":
        time.sleep(5)
        video = client.get("/videos/" + video["id"]).raise_for_status().json()
print(video.get("url") or video["error"])`

function javascriptExample(request: ExampleRequest): string {
  const { mode, gateway, body } = request
  if (mode === 'video') return javascriptVideo(request)
  if (mode === 'rerank') return javascriptRerank(request)
  const fields = JSON.stringify(body, null, 2)
  const file = `  file: createReadStream('${audioName}'),\n}`
  const input = mode === 'transcription' ? fields.replace(/\n\}$/, `,\n${file}`) : fields
  const imports = {
    ...(mode === 'speech' && { 'node:fs/promises': 'writeFile' }),
    ...(mode === 'transcription' && { 'node:fs': 'createReadStream' }),
  }
  const lines = Object.entries(imports).map(([from, name]) => `import { ${name} } from '${from}'\n`)
  return `${lines.join('')}import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${gateway}/v1', apiKey: process.env.KEY })
const response = await client.${clientCalls[mode]}(${input})
${javascriptResults(request)[mode]}`
}

const javascriptResults = (request: ExampleRequest): Record<ClientMode, string> => ({
  chat: 'console.log(response.choices[0].message.content)',
  image: 'console.log(response.data[0].url)',
  speech: `await writeFile('${speechFile(request)}', Buffer.from(await response.arrayBuffer()))`,
  transcription: 'console.log(response.text)',
  embedding: 'console.log(response.data[0].embedding.length)',
  moderation: 'console.log(response.results[0].flagged)',
})

const javascriptVideo = ({
  gateway,
  body,
}: ExampleRequest): string => `const url = '${gateway}/v1/videos'
const headers = {
  authorization: \`Bearer \${process.env.KEY}\`,
  'content-type': 'application/json',
}
const request = ${JSON.stringify(body, null, 2)}
let video = await (
  await fetch(url, { method: 'POST', headers, body: JSON.stringify(request) })
).json()
while (video.status === 'pending') {
  await new Promise((wake) => setTimeout(wake, 5_000))
  video = await (await fetch(\`\${url}/\${video.id}\`, { headers })).json()
}
console.log(video.url ?? video.error)`

const pythonRerank = ({ gateway, body }: ExampleRequest): string => `import os
import httpx

response = httpx.post(
    "${gateway}/v1/rerank",
    headers={"authorization": "Bearer " + os.environ["KEY"]},
    json=${pythonValue(body, 4)},
)
print(response.raise_for_status().json()["results"])`

const javascriptRerank = ({
  gateway,
  body,
}: ExampleRequest): string => `const response = await fetch('${gateway}/v1/rerank', {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${process.env.KEY}\`,
    'content-type': 'application/json',
  },
  body: JSON.stringify(${JSON.stringify(body)}),
})
console.log((await response.json()).results.length)`
