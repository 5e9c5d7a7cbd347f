/**
 * Source of a function that parses pages with the browser's own parser and returns, for each, what
 * would run in it (event handlers, addresses that are scripts, elements that load or redirect), and
 * the inline scripts. Nothing of a parsed page runs or loads.
 */
export const findRunnable = String.raw`(texts) => {
  const addresses = ['href', 'src', 'action', 'formaction', 'data', 'poster', 'xlink:href']
  const isHarmless = (address, element) => {
    if (address.startsWith('data:image/')) return element.localName === 'img'
    // A browser drops these signs from an address.
    const plain = address.replace(/[\u0000-\u0020]/g, '')
    if (!URL.canParse(plain, 'https://site.test/')) return true
    return ['http:', 'https:', 'mailto:'].includes(new URL(plain, 'https://site.test/').protocol)
  }
  const findIn = (root) => {
    const runs = []
    const scripts = []
    for (const element of root.querySelectorAll('*')) {
      const name = element.localName
      if (/^(?:base|object|embed|frame|frameset|applet|portal)$/.test(name)) runs.push(name)
      for (const { name: attribute, value } of element.attributes) {
        if (/^on|^srcdoc$/.test(attribute)) runs.push(name + ' ' + attribute)
        const isAddress = addresses.includes(attribute)
        if (isAddress && !isHarmless(value, element)) runs.push(name + ' ' + attribute + '=' + value)
      }
      const refresh = name === 'meta' && /refresh/i.test(element.httpEquiv)
      if (refresh && !/^\d+$/.test(element.content)) runs.push('meta refresh')
      if (name === 'script' && !/^application\/(?:ld\+)?json$/.test(element.type)) {
        const src = element.getAttribute('src')
        if (src !== null && !src.startsWith('/static/') && !src.startsWith('/frame/')) runs.push('script ' + src)
        if (element.textContent !== '') scripts.push(element.textContent)
      }
      if (element.content instanceof DocumentFragment) {
        const inside = findIn(element.content)
        runs.push(...inside.runs)
        scripts.push(...inside.scripts)
      }
    }
    return { runs, scripts }
  }
  return texts.map((text) => findIn(new DOMParser().parseFromString(text, 'text/html')))
}`
