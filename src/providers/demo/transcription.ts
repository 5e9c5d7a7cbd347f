import { errorResponse } from '../response.ts'

/** Bytes per second of typical speech, for formats whose length is not read. */
const bytesPerSecond = 16_000

/** Returns a text with the length of the audio: exact for WAV, else by its bytes. */
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

/** Returns seconds, rounded up to hundredths. */
function secondsOf(head: Buffer, bytes: number): number {
  const isWav = head.toString('latin1', 0, 4) === 'RIFF' && head.length === 44
  const rate = isWav ? head.readUInt32LE(28) : bytesPerSecond
  const audioBytes = isWav ? Math.min(head.readUInt32LE(40), bytes - 44) : bytes
  return Math.ceil((audioBytes / Math.max(1, rate)) * 100) / 100
}
