/** A host of chats in a page: AppRenderer of MCP-UI, and a client of the older SDK. */
import { AppRenderer } from '@mcp-ui/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'

const viewType = 'text/html;profile=mcp-app'
const hostContext = {
  theme: 'light',
  locale: 'en-GB',
  displayMode: 'inline',
  availableDisplayModes: ['inline'],
  containerDimensions: { maxHeight: 2_000, maxWidth: 720 },
}

async function connect(url, key) {
  const client = new Client(
    { name: 'mcp-ui', version: '1' },
    { capabilities: { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [viewType] } } } },
  )
  const headers = key ? { authorization: `Bearer ${key}` } : {}
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  )
  return client
}

/** Calls a tool, and shows the view of its result as a chat does. */
async function call({ url, sandbox, key, name, args }) {
  const client = await connect(url, key)
  const { tools } = await client.listTools()
  const uri = tools.find((tool) => tool.name === name)?._meta?.ui?.resourceUri
  const result = await client.callTool({ name, arguments: args })
  if (!uri) return { result }
  const [{ text, _meta }] = (await client.readResource({ uri })).contents
  const proxy = new URL(sandbox)
  const element = document.createElement('div')
  element.style = 'width:720px'
  document.body.append(element)
  createRoot(element).render(
    createElement(AppRenderer, {
      client,
      toolName: name,
      html: text,
      sandbox: { url: proxy, csp: _meta?.ui?.csp ?? {} },
      toolInput: args,
      toolResult: result,
      hostContext,
      onOpenLink: async ({ url: link }) => {
        self.host.links.push(link)
        return {}
      },
      onSizeChanged: ({ height }) => self.host.heights.push(height),
      onError: (error) => console.warn(String(error)),
    }),
  )
  return { result }
}

self.host = { call, heights: [], links: [], modes: [] }
