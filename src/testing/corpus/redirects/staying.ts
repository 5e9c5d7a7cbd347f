/** An honest page: it stays, or it links out. `isWarned`: a part of it does not work here. */
interface StayingPage {
  name: string
  body: string
  isWarned?: boolean
}

const url = 'https://elsewhere.test/'
const page = (name: string, body: string, isWarned = false): StayingPage => ({
  name,
  body: `<h1>Page</h1>${body}`,
  isWarned,
})
const js = (name: string, script: string, isWarned = false): StayingPage =>
  page(name, `<button id="b">Go</button><p id="p"></p><script>${script}</script>`, isWarned)

export const staying: readonly StayingPage[] = [
  page('a link', `<a href="${url}">Out</a>`),
  page('a link in a new tab', `<a href="${url}" target="_blank" rel="noopener">Out</a>`),
  page('many links', [1, 2, 3].map((n) => `<a id="l${n}" href="${url}${n}">${n}</a>`).join(' ')),
  page('mail', '<a href="mailto:ann@elsewhere.test">Mail</a> <a href="tel:+1555">Call</a>'),
  page('fragments', '<nav><a href="#one">One</a></nav><h2 id="one">One</h2>'),
  page('a map', `<map name="m"><area href="${url}" shape="rect" coords="0,0,9,9"></map>`),
  page('a link of SVG', `<svg><a href="${url}"><text y="9">Out</text></a></svg>`),
  page(
    'a form to search with',
    `<form action="${url}"><input name="q"><button>Search</button></form>`,
    true,
  ),
  page(
    'a form of its own',
    '<form onsubmit="event.preventDefault()"><input><button>Add</button></form>',
  ),
  page('onclick', `<button onclick="location.href='${url}'">Out</button>`, true),
  page(
    'onclick of a card',
    `<div class="card" onclick="window.location='${url}'">Card</div>`,
    true,
  ),
  page('onclick that opens', `<button onclick="window.open('${url}', '_blank')">Out</button>`),
  page(
    'onclick of a function',
    `<button onclick="go()">Out</button><script>function go() { location.href = '${url}' }</script>`,
    true,
  ),
  page(
    'onclick with a parameter',
    `<button onclick="go('${url}')">Out</button><script>function go(to) { location.href = to }</script>`,
    true,
  ),
  page(
    'onclick of an arrow',
    `<button onclick="go()">Out</button><script>const go = () => { window.location.assign('${url}') }</script>`,
    true,
  ),
  page(
    'onchange',
    `<select onchange="location.href='${url}' + this.value"><option>a</select>`,
    true,
  ),
  page('a javascript link', `<a href="javascript:location.href='${url}'">Out</a>`, true),
  page('a refresh of itself', '<meta http-equiv="refresh" content="#">'),
  js('a click listener', `b.addEventListener('click', () => { location.href = '${url}' })`, true),
  js('a click property', `b.onclick = () => location.assign('${url}')\np.textContent = 'x'`, true),
  js('a click function', `b.onclick = go\nfunction go() { window.location = '${url}' }`, true),
  js(
    'functions of a click',
    `b.addEventListener('click', share)\nfunction share() { leave() }\nfunction leave() { location.href = '${url}' }`,
    true,
  ),
  js('a click that opens', `b.addEventListener('click', () => window.open('${url}'))`),
  js(
    'a click that shares',
    `b.onclick = () => { const u = 'https://share.test/?url=' + encodeURIComponent(location.href); window.open(u, '_blank', 'noopener') }`,
  ),
  js(
    'a key',
    `document.addEventListener('keydown', (e) => { if (e.key === 'g') location.href = '${url}' })`,
    true,
  ),
  js(
    'a listener in a loop',
    `for (const e of document.querySelectorAll('button')) e.addEventListener('click', function () { window.location.href = '${url}' })`,
    true,
  ),
  js(
    'a click handler of an object',
    `const app = { onclick: () => { location.href = '${url}' } }; b.onclick = app.onclick`,
    true,
  ),
  js(
    'a download',
    `b.onclick = () => { const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['x'])); a.download = 'x.txt'; a.click() }`,
  ),
  js(
    'a file to choose',
    `const f = document.createElement('input'); f.type = 'file'; b.onclick = () => f.click()`,
  ),
  js(
    'a created link',
    `const a = document.createElement('a'); a.href = '${url}'; a.textContent = 'Out'; document.body.append(a)`,
  ),
  js('a click of its own button', `b.onclick = () => { p.textContent = 'x' }; b.click()`),
  js('reload', `b.onclick = () => location.reload()`),
  js(
    'reload of a game',
    `b.addEventListener('click', () => { if (true) window.location.reload() })`,
  ),
  js(
    'the query',
    `const n = new URLSearchParams(location.search).get('n') ?? 'x'; p.textContent = n`,
  ),
  js('the address', `p.textContent = location.href + location.pathname + location.origin`),
  js(
    'a comparison',
    `if (location.href === '${url}' || location.hostname == 'localhost') p.textContent = 'x'`,
  ),
  js('a test of the scheme', `if (location.protocol === 'http:') p.textContent = 'x'`),
  js(
    'an arrow of the address',
    `const isOwn = (u) => location.href => u`.replace('location.href => u', 'location.href >= u'),
  ),
  js('a hash', `b.onclick = () => { location.hash = 'two' }`),
  js('a hash at the start', `if (!location.hash) location.hash = '#home'`),
  js(
    'a hash router',
    `const show = () => { p.textContent = location.hash || 'home' }; addEventListener('hashchange', show); show()`,
  ),
  js('a hash by href', `b.onclick = () => { location.href = '#two' }`),
  js('a replaced hash', `location.replace('#start')`),
  js('pushState', `history.pushState({ page: 1 }, '', '/one'); p.textContent = 'one'`),
  js(
    'a router',
    `const go = (path) => { history.pushState({}, '', path); p.textContent = path }; b.onclick = () => go('/two'); onpopstate = () => { p.textContent = 'back' }; go('/one')`,
  ),
  js('replaceState', `history.replaceState(null, '', location.pathname + '?level=2')`),
  js('back', `b.onclick = () => history.back()`),
  js(
    'a router of an object',
    `const router = { navigate(to) { p.textContent = to }, replace(to) { p.textContent = to } }; router.navigate('https://elsewhere.test/docs'); router.replace('${url}')`,
  ),
  js(
    'a location of a game',
    `const player = { location: 'cave' }; player.location = '//north'; player.location.href = '${url}'`,
  ),
  js(
    'a location of a place',
    `function weather(place) { const location = place.url; p.textContent = location }\nweather({ url: '${url}' })`,
  ),
  js(
    'open of a database',
    `indexedDB.open('x', 1); const menu = { open(u) { p.textContent = u } }; menu.open('${url}')`,
  ),
  js('open of its own', `function open(u) { p.textContent = u }\nopen('${url}')`),
  js(
    'replace of a text',
    `p.textContent = 'a-b'.replace('-', '${url}'); const list = Object.assign({}, { href: '${url}' })`,
  ),
  js(
    'top of its own',
    `let top = 5, parent = { location: '' }; parent.location = '${url}'; p.textContent = top`,
    true,
  ),
  js(
    'self of its own',
    `const self = { location: {} }; self.location.href = '${url}'; p.textContent = 'x'`,
  ),
  js('a frame check', `if (window.top !== window.self) p.textContent = 'framed'`),
  js('a frame buster', `if (top !== self) { try { top.location = self.location } catch {} }`, true),
  js('a URL in a text', `p.textContent = "location.href = '${url}'"`),
  js(
    'a URL object',
    `const u = new URL('${url}'); u.searchParams.set('q', '1'); p.textContent = u.href`,
  ),
  js(
    'a list of links',
    `const links = [{ href: '${url}', name: 'Out' }]; p.innerHTML = links.map((l) => '<a href="' + l.href + '">' + l.name + '</a>').join('')`,
  ),
  js(
    'cards of links',
    `const all = ['${url}']; all.forEach((u) => { const d = document.createElement('div'); d.textContent = u; d.onclick = () => window.open(u); document.body.append(d) })`,
  ),
  js(
    'a canonical link',
    `const l = document.createElement('link'); l.rel = 'canonical'; l.href = '${url}'; p.textContent = l.href`,
  ),
  js(
    'a submit listener',
    `const f = document.createElement('form'); document.body.append(f); f.addEventListener('submit', (e) => { e.preventDefault(); p.textContent = 'sent' }); f.requestSubmit()`,
  ),
  js(
    'a sitemap',
    `const pages = { home: '${url}', about: '${url}about' }; const current = pages[location.hash.slice(1)] || pages.home; p.textContent = current`,
  ),
  js(
    'a game loop',
    `let x = 0; const loop = () => { x += 1; p.textContent = x; requestAnimationFrame(loop) }; loop()`,
  ),
  page(
    'code that is shown',
    `<pre>location.href = '${url}'</pre><code>window.open('${url}')</code>`,
  ),
  page(
    'a template',
    `<template><button onclick="location.href='${url}'">Out</button></template>`,
    true,
  ),
]
