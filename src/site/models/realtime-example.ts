/** Returns code that runs with Node 22 or Bun as is, with the API key in the variable KEY. */
export const realtimeExample = (
  gateway: string,
  model: string,
): string => `const url = '${gateway.replace(/^http/, 'ws')}/v1/realtime?model=${encodeURIComponent(model)}'
const socket = new WebSocket(url, ['realtime', \`openai-insecure-api-key.\${process.env.KEY}\`])
const send = (event) => socket.send(JSON.stringify(event))

socket.onopen = () => {
  send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } })
  const content = [{ type: 'input_text', text: 'Name a small boat.' }]
  send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } })
  send({ type: 'response.create' })
}
socket.onmessage = ({ data }) => {
  const event = JSON.parse(data)
  if (event.type === 'response.output_text.done') console.log(event.text)
  if (event.type === 'error') console.error(event.error.message)
  if (event.type === 'response.done' || event.type === 'error') socket.close()
}
socket.onclose = ({ code, reason }) => code === 1000 || console.error(code, reason)`
