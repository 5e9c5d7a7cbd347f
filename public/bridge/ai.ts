import type { AiFetch, ModelBody } from './ai-fetch.ts'
import { costOf } from './ai-fetch.ts'
import type { Bridge } from './bridge.ts'
import { type ChatInput, startChat } from './chat.ts'
import { imageRequest } from './image-request.ts'
import { imageTypeOf } from './image-type.ts'
import { errorOf } from './model-error.ts'
import type { CallOptions, ChatOptions, ChatReply, MadeFile } from './service-types.ts'

/** The bounds of a call of a model. */
export interface AiLimits {
  /** Bytes of the text of one call, as UTF-8. */
  textBytesMax: number
  /** Bytes of the pictures and files beside it. */
  fileBytesMax: number
}

interface ImageOptions extends CallOptions {
  size?: string
  /** Pictures to change or to combine. */
  images?: Blob[]
}

const json = (body: object): ModelBody => ({ body: JSON.stringify(body) })

/** `service.ai`: models for an app. Before the first call, the player agrees to it in the shell. */
export function openAi(call: Bridge, fetchModel: AiFetch) {
  const createUrl = URL.createObjectURL.bind(URL)
  const send = async (path: string, body: ModelBody, signal?: AbortSignal): Promise<Response> => {
    const response = await fetchModel(path, body, signal)
    if (!response.ok) throw await errorOf(response)
    return response
  }
  const made = (blob: Blob, credits: number): MadeFile => ({ url: createUrl(blob), blob, credits })
  return Object.freeze({
    /** Returns the bounds of a call. */
    limits: (): Promise<AiLimits> => call<AiLimits>('ai.limits', {}).result,

    /** Chats. Await the reply, or iterate over its text as it arrives. */
    chat: (input: ChatInput, options: ChatOptions = {}): ChatReply =>
      startChat(send, input, options),

    /** Creates an image, also from other images. */
    async image(
      prompt: string,
      { model, size, images = [], signal }: ImageOptions = {},
    ): Promise<MadeFile> {
      const request = imageRequest({ prompt: String(prompt), model, size }, images)
      const response = await send(...request, signal)
      const { data } = await response.json()
      const base64 = String(data[0].b64_json)
      const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
      return made(new Blob([bytes], { type: imageTypeOf(base64) }), costOf(response))
    },

    /** Speaks a text. */
    async speech(
      input: string,
      { model, voice = 'alloy', signal }: CallOptions & { voice?: string } = {},
    ): Promise<MadeFile> {
      const body = { input: String(input), model, voice }
      const response = await send('v1/audio/speech', json(body), signal)
      const type = response.headers.get('content-type') ?? ''
      return made(new Blob([await response.blob()], { type }), costOf(response))
    },

    /** Returns what is said in a recording. */
    async transcribe(
      recording: Blob,
      { model = '', language = '', signal }: CallOptions & { language?: string } = {},
    ): Promise<{ text: string; credits: number }> {
      const fields: [string, string | Blob][] = [['file', recording]]
      if (model !== '') fields.push(['model', model])
      if (language !== '') fields.push(['language', language])
      const response = await send('v1/audio/transcriptions', { form: fields }, signal)
      const { text } = await response.json()
      return { text: String(text), credits: costOf(response) }
    },
  })
}
