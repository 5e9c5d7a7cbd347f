import { t } from '../../../public/words.ts'
import { type Mode, modePaths } from '../models/modes.ts'
import type { Attachment } from './conversation.browser.ts'

const triesMax = 8
const tryMs = 250
const pollMs = 2_000

/** The result of a request, in full or in part. */
export interface Reply {
  /** The ID of the request; empty when it did not arrive. */
  id: string
  error?: string
  images?: string[]
  audio?: Blob
  video?: string
  vector?: number[]
}

interface ErrorBody {
  error?: { message?: string }
}

/** A server-sent event of the gateway (document 2, section 6). */
interface Chunk extends ErrorBody {
  choices?: { delta?: { content?: string | null } }[]
}

interface Video extends ErrorBody {
  id: string
  status: 'pending' | 'completed' | 'failed'
  progress?: number
  url?: string
}

export interface Summary {
  summary: string
  exact: string
  left: string
}

/** Called with more text of the reply, or with the progress of a video. */
export interface Progress {
  addText(text: string): void
  setStatus(status: string): void
}

const failed = t('The request failed. Try again.')

/** The gateway as the session calls it: the token of the form is in a header. */
export class SessionGateway {
  constructor(
    private readonly path: string,
    private readonly token: string,
  ) {}

  /** Sends a request and reads its reply. It does not throw. */
  async send(
    mode: Mode,
    body: Record<string, unknown> | FormData,
    { signal, progress }: { signal: AbortSignal; progress: Progress },
  ): Promise<Reply> {
    let id = ''
    try {
      const sent = mode === 'chat' ? { ...body, stream: true } : body
      const response = await this.#post(modePaths[mode], sent, signal)
      id = response.headers.get('x-request-id') ?? ''
      if (!response.ok) return { id, error: await errorOf(response) }
      return { id, ...(await this.#read(mode, response, { signal, progress })) }
    } catch {
      return signal.aborted ? { id } : { id, error: t('The connection was lost. Try again.') }
    }
  }

  /** Uploads a file for a chat. Throws an error with the message for the person. */
  async upload(file: File): Promise<Attachment> {
    const form = new FormData()
    form.append('file', file)
    const response = await this.#post('/files', form)
    if (!response.ok) throw new Error(await errorOf(response))
    const { id, filename }: { id: string; filename: string } = await response.json()
    return { id, name: filename }
  }

  /** Returns the summary of a request, which is available shortly after the reply. */
  async summarize(id: string): Promise<Summary | undefined> {
    for (let tries = 0; tries < triesMax && id !== ''; tries += 1) {
      const response = await fetch(`${this.path}/${id}`).catch(() => undefined)
      if (response?.ok && !response.redirected) return await response.json()
      await wait(tryMs)
    }
    return undefined
  }

  async #post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
    const isForm = body instanceof FormData
    const response = await fetch(`${this.path}/v1${path}`, {
      method: 'POST',
      headers: {
        'x-form-token': this.token,
        ...(!isForm && { 'content-type': 'application/json' }),
      },
      body: isForm ? body : JSON.stringify(body),
      ...(signal && { signal }),
    })
    // The session ended: the address is that of the sign-in page.
    if (response.redirected) location.assign(response.url)
    return response
  }

  async #read(
    mode: Mode,
    response: Response,
    { signal, progress }: { signal: AbortSignal; progress: Progress },
  ): Promise<Omit<Reply, 'id'>> {
    if (mode === 'chat') return readStream(response, progress)
    if (mode === 'speech') return { audio: await response.blob() }
    const body = await response.json()
    if (mode === 'transcription') progress.addText(String(body.text))
    if (mode === 'embedding') return { vector: body.data?.[0]?.embedding ?? [] }
    if (mode === 'video') return this.#waitForVideo(body, signal, progress)
    const images: { url: string }[] = mode === 'image' ? body.data : []
    return { images: images.map(({ url }) => url) }
  }

  async #waitForVideo(
    video: Video,
    signal: AbortSignal,
    progress: Progress,
  ): Promise<Omit<Reply, 'id'>> {
    let now = video
    while (now.status === 'pending') {
      progress.setStatus(
        t('The video is being created: {progress} %', { progress: now.progress ?? 0 }),
      )
      await wait(pollMs)
      if (signal.aborted) {
        return { error: t('The video is still being created. Usage shows when it is charged.') }
      }
      const response = await fetch(`${this.path}/v1/videos/${video.id}`, { signal })
      if (!response.ok) return { error: await errorOf(response) }
      now = await response.json()
    }
    return now.url ? { video: now.url } : { error: now.error?.message ?? failed }
  }
}

const wait = (ms: number): Promise<void> => new Promise((wake) => setTimeout(wake, ms))

async function errorOf(response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? ''
  if (!type.startsWith('application/json')) return t('This page expired. Reload it.')
  const { error }: ErrorBody = await response.json()
  return error?.message ?? failed
}

async function readStream(response: Response, { addText }: Progress): Promise<Omit<Reply, 'id'>> {
  if (!response.body) return { error: failed }
  const [reader, decoder] = [response.body.getReader(), new TextDecoder()]
  for (let rest = ''; ;) {
    const { done, value } = await reader.read()
    if (done) return {}
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue
      const { choices, error }: Chunk = JSON.parse(line.slice('data: '.length))
      if (error) return { error: error.message ?? failed }
      addText(choices?.[0]?.delta?.content ?? '')
    }
  }
}
