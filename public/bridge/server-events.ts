/** Reads the JSON data of server-sent events (HTML, 9.2.6). A reader that stops ends the stream. */
export async function* readEvents({ body }: Response): AsyncGenerator<unknown> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      const lines = (rest + decoder.decode(next.value, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line.startsWith('data: {')) yield JSON.parse(line.slice('data: '.length))
      }
    }
  } finally {
    reader?.cancel().catch(() => undefined)
  }
}
