/** The loader as it runs in a page: `names` has asset names by path, `inlined` has data URLs. */
const source = `{
  const known = new Map(Object.entries(names))
  const data = new Map(Object.entries(inlined))
  const decode = (part) => {
    try {
      return decodeURIComponent(part)
    } catch {
      return part
    }
  }
  const pathOf = (url) => {
    const parts = []
    for (const part of String(url).split(/[?#]/)[0].split('/')) {
      if (part === '..') parts.pop()
      else if (part && part !== '.') parts.push(decode(part))
    }
    return parts.join('/').normalize('NFC')
  }
  const isOwn = (url) => typeof url === 'string' && !/^[a-z]+:/i.test(url) && (known.has(pathOf(url)) || data.has(pathOf(url)))
  const ready = service.assets.ready
  const resolve = async (url) => {
    await ready
    return data.get(pathOf(url)) ?? service.assets.url(known.get(pathOf(url)))
  }
  for (const type of [HTMLImageElement, HTMLMediaElement, HTMLSourceElement]) {
    const own = Object.getOwnPropertyDescriptor(type.prototype, 'src')
    Object.defineProperty(type.prototype, 'src', {
      ...own,
      set(url) {
        if (isOwn(url)) resolve(url).then((address) => own.set.call(this, address))
        else own.set.call(this, url)
      },
    })
  }
  const setAttribute = Element.prototype.setAttribute
  Element.prototype.setAttribute = function (name, value) {
    if (name === 'src' && 'src' in this && isOwn(value)) this.src = value
    else setAttribute.call(this, name, value)
  }
  const OwnAudio = window.Audio
  window.Audio = function Audio(url) {
    const audio = new OwnAudio()
    if (url !== undefined) audio.src = url
    return audio
  }
  window.Audio.prototype = OwnAudio.prototype
  const ownFetch = window.fetch
  window.fetch = (url, init) => (isOwn(url) ? resolve(url).then((address) => ownFetch(address, init)) : ownFetch(url, init))
  const { open, send } = XMLHttpRequest.prototype
  const opened = new WeakMap()
  XMLHttpRequest.prototype.open = function (method, url, ...rest) {
    if (isOwn(url)) opened.set(this, url)
    return open.call(this, method, isOwn(url) ? 'data:,' : url, ...rest)
  }
  XMLHttpRequest.prototype.send = function (body) {
    const url = opened.get(this)
    if (url === undefined) return send.call(this, body)
    const { responseType } = this
    resolve(url).then((address) => {
      open.call(this, 'GET', address)
      this.responseType = responseType
      send.call(this)
    })
  }
  const parsed = new Promise((done) => document.addEventListener('DOMContentLoaded', done, { once: true }))
  ready.then(() => {
    for (const name of known.values()) {
      document.documentElement.style.setProperty('--file-' + name.replaceAll('.', '-'), 'url("' + service.assets.url(name) + '")')
    }
  })
  Promise.all([ready, parsed]).then(() => {
    for (const attribute of ['src', 'poster', 'href']) {
      for (const element of document.querySelectorAll('[data-file-' + attribute + ']')) {
        setAttribute.call(element, attribute, service.assets.url(element.getAttribute('data-file-' + attribute)))
        if (element instanceof HTMLSourceElement) element.parentElement.load?.()
      }
    }
  })
}`

const inScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c')

/**
 * Returns a script that leads references to the files of a folder to the assets of the app: image
 * and audio elements, fetch, XMLHttpRequest, and CSS variables.
 */
export const fileLoader = (
  names: Record<string, string>,
  inlined: Record<string, string>,
): string =>
  `<script>
// Leads references to the files of the published folder to its assets.
((names, inlined) => ${source})(${inScript(names)}, ${inScript(inlined)})
</script>`
