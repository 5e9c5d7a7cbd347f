import { type Json, recordOf } from '../core/schema.ts'

/** A page to open: its URL, and the handler of its requests. */
export interface PreviewPage {
  url: string
  respond(request: Request): Promise<Response>
}

/** Answers a paused request of a page, and fails those to other origins. */
export async function fulfillRequest(
  page: PreviewPage,
  { requestId, request }: Json,
  send: (method: string, params: Json) => Promise<unknown>,
): Promise<void> {
  const { url = '', headers } = recordOf(request)
  if (!URL.canParse(String(url)) || new URL(String(url)).origin !== new URL(page.url).origin) {
    await send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' })
    return
  }
  const sent = new Headers()
  for (const [name, value] of Object.entries(recordOf(headers))) sent.set(name, String(value))
  const response = await page.respond(new Request(String(url), { headers: sent }))
  await send('Fetch.fulfillRequest', {
    requestId,
    responseCode: response.status,
    responseHeaders: [...response.headers].map(([name, value]) => ({ name, value })),
    body: Buffer.from(await response.bytes()).toString('base64'),
  })
}
