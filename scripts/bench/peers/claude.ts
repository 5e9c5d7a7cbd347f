/** An upstream of Anthropic's Messages API with one whole response. Prints its port. */
const response = JSON.stringify({
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  model: 'bench',
  content: [{ type: 'text', text: 'A short answer, as most of them are. '.repeat(8) }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 120, output_tokens: 80 },
})
const headers = { 'content-type': 'application/json' }

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    await request.arrayBuffer()
    return new Response(response, { headers })
  },
})
console.log(server.port)
