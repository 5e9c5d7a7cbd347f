/** A host of chats in a page: the bridge of the reference implementation, and a client of its SDK. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  AppBridge,
  getToolUiResourceUri,
  PostMessageTransport,
} from '@modelcontextprotocol/ext-apps/app-bridge'

const hostInfo = { name: 'reference', version: '1' }
const viewType = 'text/html;profile=mcp-app'
const hostContext = {
  theme: 'dark',
  locale: 'en-CH',
  displayMode: 'inline',
  availableDisplayModes: ['inline', 'fullscreen'],
  containerDimensions: { maxHeight: 2_000, width: 720 },
}

/**
 * Connects to a server. Without a key, the client sends none. Like the example host of the
 * implementation, it does not declare that it shows views.
 */
async function connect(url, key) {
  const client = new Client(hostInfo, { capabilities: { elicitation: {} } })
  const headers = key ? { authorization: `Bearer ${key}` } : {}
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  )
  return client
}

/** Loads the proxy of the sandbox with a policy, as its server applies it. */
function loadProxy(frame, sandbox, csp) {
  const ready = new Promise((resolve) => {
    addEventListener('message', ({ source, data }) => {
      const isReady = data?.method === 'ui/notifications/sandbox-proxy-ready'
      if (isReady && source === frame.contentWindow) resolve()
    })
  })
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-forms')
  frame.src = `${sandbox}?csp=${encodeURIComponent(JSON.stringify(csp ?? {}))}`
  document.body.append(frame)
  return ready
}

/** Calls a tool, and shows the view of its result as a chat does. */
async function call({ url, sandbox, key, name, args }) {
  const client = await connect(url, key)
  const { tools } = await client.listTools()
  const tool = tools.find((one) => one.name === name)
  const result = await client.callTool({ name, arguments: args })
  const uri = tool && getToolUiResourceUri(tool)
  if (!uri) return { result }
  return show({ client, sandbox, uri, tool, args, result })
}

async function show({ client, sandbox, uri, tool, args, result }) {
  const { contents } = await client.readResource({ uri })
  const [{ text, mimeType, _meta }] = contents
  if (mimeType !== viewType) throw new Error(`no view: ${mimeType}`)
  const frame = document.createElement('iframe')
  frame.style = 'width:720px;height:300px;border:1px solid #888'
  await loadProxy(frame, sandbox, _meta?.ui?.csp)
  const bridge = new AppBridge(
    client,
    hostInfo,
    { openLinks: {}, serverTools: {}, serverResources: {} },
    { hostContext: { ...hostContext, ...(tool && { toolInfo: { tool } }) } },
  )
  self.host.bridge = bridge
  const { request } = client
  client.request = (message, ...rest) => {
    if (message.method === 'tools/call') self.host.calls.push(message.params.name)
    return request.call(client, message, ...rest)
  }
  bridge.onopenlink = async ({ url }) => {
    self.host.links.push(url)
    return {}
  }
  bridge.onsizechange = ({ height }) => {
    self.host.heights.push(height)
    if (height !== undefined) frame.style.height = `${height}px`
  }
  bridge.onrequestdisplaymode = async ({ mode }) => {
    self.host.modes.push(mode)
    return { mode }
  }
  const initialized = new Promise((resolve) => {
    bridge.oninitialized = () => resolve()
  })
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
  await bridge.sendSandboxResourceReady({ html: text, csp: _meta?.ui?.csp })
  await initialized
  if (args) await bridge.sendToolInput({ arguments: args })
  if (result) await bridge.sendToolResult(result)
  return { result }
}

async function open({ url, sandbox, key, uri }) {
  return show({ client: await connect(url, key), sandbox, uri })
}

/** Changes a part of the context of the newest view. */
const setContext = (part) => self.host.bridge.setHostContext({ ...hostContext, ...part })

self.host = { call, open, setContext, hostContext, calls: [], heights: [], links: [], modes: [] }
