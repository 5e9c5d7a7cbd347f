/**
 * `window.openai` of apps in ChatGPT, for pages that run outside of a chat. Its state is a value of
 * the player; there are no tools to call and no chat to write to, so these calls settle at once.
 * Source: developers.openai.com/apps-sdk/reference, "window.openai", as of November 2026.
 */
import { store } from './bridge-calls.ts'

const stateKey = 'openai:widgetState'
const dark = matchMedia('(prefers-color-scheme: dark)')
const isTouch = matchMedia('(pointer: coarse)').matches

let widgetState: unknown = null
let isSet = false

/** Tells the page of new values, as ChatGPT does. */
function announce(globals: object): void {
  dispatchEvent(new CustomEvent('openai:set_globals', { detail: { globals } }))
}

/** Files that the page has uploaded, by their ids. They live as long as the page. */
const uploads = new Map<string, string>()

const noTools = 'This page is open outside of ChatGPT, where it has no tools.'

const openai = {
  get theme() {
    return dark.matches ? 'dark' : 'light'
  },
  get locale() {
    return navigator.language
  },
  get maxHeight() {
    return innerHeight
  },
  get widgetState() {
    return widgetState
  },
  displayMode: 'fullscreen',
  safeArea: { insets: { top: 0, right: 0, bottom: 0, left: 0 } },
  userAgent: {
    device: { type: isTouch ? 'mobile' : 'desktop' },
    capabilities: { hover: !isTouch, touch: isTouch },
  },
  toolInput: {},
  toolOutput: null,
  toolResponseMetadata: null,
  view: null,
  async setWidgetState(state: unknown): Promise<void> {
    isSet = true
    widgetState = state
    announce({ widgetState })
    await store.set(stateKey, state)
  },
  callTool: async (_name: string, _input?: object) => ({
    isError: true,
    result: noTools,
    content: [{ type: 'text', text: noTools }],
    structuredContent: null,
  }),
  sendFollowUpMessage: async (_message?: object): Promise<void> => undefined,
  requestDisplayMode: async (_mode?: object) => ({ mode: openai.displayMode }),
  requestModal: async (_options?: object): Promise<void> => undefined,
  requestClose: async (): Promise<void> => undefined,
  notifyIntrinsicHeight: (_height?: number): void => undefined,
  setOpenInAppUrl: (_options?: object): void => undefined,
  async uploadFile(file: File) {
    const fileId = `file_${uploads.size + 1}`
    uploads.set(fileId, URL.createObjectURL(file))
    return { fileId }
  },
  getFileDownloadUrl: async ({ fileId }: { fileId: string }) => ({
    downloadUrl: uploads.get(fileId) ?? '',
  }),
  /** The viewer shows the visitor a button for the link. */
  openExternal: ({ href }: { href: string }): void => void open(href, '_blank', 'noopener'),
}

// A page inside of a chat has the one of its chat.
if (Reflect.get(window, 'openai') === undefined) {
  Object.defineProperty(window, 'openai', { value: openai, writable: true, configurable: true })
  dark.addEventListener('change', () => announce({ theme: openai.theme }))
  void store.get(stateKey).then((state) => {
    if (isSet || state === null) return
    widgetState = state
    announce({ widgetState })
  }, console.warn)
}
