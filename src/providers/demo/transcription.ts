import { errorResponse } from '../response.ts'

/** Of sounds that do not say how long they are: the bytes of a second of common speech. */
const bytesPerSecond = 16_000

/** Tells how long a sound is: exactly for a WAV, else by its bytes. */
export async function transcribe(form: FormData): Promise<Response> {
  const file = form.get('file')
  if (!(file instanceof Blob) || file.size === 0) return errorResponse(400, 'file is empty.')
  const seconds = secondsOf(Buffer.from(await file.slice(0, 44).arrayBuffer()), file.size)
  const text = `A sound of ${seconds} seconds.`
  if (form.get('response_format') === 'text') return new Response(text)
  const timed = { duration: seconds, segments: [{ id: 0, start: 0, end: seconds, text }] }
  const usage = { type: 'duration', seconds }
  return Response.json({ text, language: form.get('language'), ...timed, usage })
}

/** In hundredths of a second, rounded up. */
function secondsOf(head: Buffer, bytes: number): number {
  const isWav = head.toString('latin1', 0, 4) === 'RIFF' && head.length === 44
  const rate = isWav ? head.readUInt32LE(28) : bytesPerSecond
  const sound = isWav ? Math.min(head.readUInt32LE(40), bytes - 44) : bytes
  return Math.ceil((sound / Math.max(1, rate)) * 100) / 100
}
