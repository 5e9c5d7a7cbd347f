/** Small tools and toys for sample data: ordinary pages with three colors. */
import type { Palette } from './games.ts'

const page = (title: string, [ground, main, second]: Palette, body: string): string =>
  `<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width"><title>${title}</title>
<style>*{box-sizing:border-box}body{margin:0;min-height:100vh;padding:36px clamp(16px,5vw,56px);background:${ground};color:#20242c;font:16px/1.5 system-ui,sans-serif;--m:${main};--s:${second}}h1{margin:0 0 18px;font-size:30px;letter-spacing:-.02em}.g{display:grid;gap:14px;grid-template-columns:repeat(auto-fit,minmax(180px,1fr))}.c{padding:18px;border-radius:14px;background:#fff;box-shadow:0 1px 3px #0002}.b{display:inline-block;padding:9px 16px;border:0;border-radius:9px;background:var(--m);color:#fff;font:600 15px system-ui}.big{font-size:40px;font-weight:700;letter-spacing:-.02em}small{color:#5a606b}</style>
<h1>${title}</h1>${body}`

type Scene = (title: string, palette: Palette) => string

const bars = (heights: number[], color: string): string =>
  `<svg viewBox="0 0 ${heights.length * 20} 100" style="width:100%;height:200px">${heights
    .map(
      (h, i) =>
        `<rect x="${i * 20}" y="${100 - h}" width="15" height="${h}" rx="3" fill="${color}"/>`,
    )
    .join('')}</svg>`

/** Figures and a chart. */
export const dashboard: Scene = (title, p) =>
  page(
    title,
    p,
    `<div class=g><div class=c><small>This month</small><div class=big>1,284</div><small style="color:#18794e">+12 %</small></div><div class=c><small>Average</small><div class=big>42.6</div><small>over 30 days</small></div><div class=c><small>Best day</small><div class=big>Tue</div><small>96 entries</small></div></div><div class=c style="margin-top:14px">${bars([22, 34, 28, 46, 58, 41, 66, 72, 54, 63, 88, 79, 70, 94, 83, 61, 74, 90], p[1])}</div>`,
  )

/** A step sequencer. */
export const sequencer: Scene = (title, p) => {
  const rows = ['Kick', 'Snare', 'Hat', 'Clap', 'Bass', 'Bell'].map(
    (name, row) =>
      `<div style="display:grid;grid-template-columns:70px repeat(16,1fr);gap:7px;margin:0 0 9px;color:#e8e8f0"><b>${name}</b>${Array.from({ length: 16 }, (_, at) => `<button aria-label="${name} ${at + 1}" style="height:46px;border:0;border-radius:8px;background:${(at * (row + 2) + row) % 5 === 0 ? (row % 2 ? p[2] : p[1]) : at % 4 === 0 ? '#3a3a48' : '#2a2a36'}"></button>`).join('')}</div>`,
  )
  const head = `<div style="margin:0 0 22px;color:#fff"><button class=b>▶ Play</button> <b style="margin-left:18px">120 BPM</b></div>`
  return page(
    title,
    ['#17171f', p[1], p[2]],
    `<style>h1{color:#fff}</style>${head}${rows.join('')}`,
  )
}

/** Text with marks. */
export const editor: Scene = (title, p) =>
  page(
    title,
    p,
    `<div class=c style="font:19px/1.75 Georgia,serif;max-width:760px">The harbor was quiet that morning, and <mark style="background:${p[2]}">in order to</mark> hear the bell one had to stand still. <mark style="background:${p[2]}">It is important to note that</mark> the boats had left before dawn. Nobody waved. A gull <u style="text-decoration-color:${p[1]}">walked slowly</u> along the wall, looked at the water, and decided against it. The ferry, when it came, was <mark style="background:${p[2]}">very unique</mark>.</div><p><span class=b>3 phrases to shorten</span> &nbsp; <small>74 words · reading time 20 s</small></p>`,
  )

/** Cards in columns. */
export const cards: Scene = (title, p) => {
  const card = (text: string, color: string): string =>
    `<div class=c style="border-left:5px solid ${color};margin:0 0 10px;padding:13px 15px">${text}</div>`
  const column = (name: string, all: string[], color: string): string =>
    `<div><b>${name}</b> <small>${all.length}</small><div style="margin-top:10px">${all.map((one) => card(one, color)).join('')}</div></div>`
  return page(
    title,
    p,
    `<div class=g>${column('To do', ['Oil the hinges', 'Write to Ida', 'Seeds: beans, kale', 'Fix the tap'], p[1])}${column('Doing', ['Paint the boat', 'Read chapter 6'], p[2])}${column('Done', ['Water the tomatoes', 'Sharpen knives', 'Call the harbor'], '#7a8699')}</div>`,
  )
}

/** A form with a large result. */
export const calculator: Scene = (title, p) =>
  page(
    title,
    p,
    `<div class=g style="max-width:820px"><div class=c><label>Bill<br><input value="84.50" style="width:100%;padding:10px;font:22px system-ui;border:1px solid #ccd;border-radius:9px"></label><p style="margin:16px 0 6px">Tip</p>${['10 %', '15 %', '18 %', '20 %'].map((one, at) => `<button class=b style="margin:0 6px 6px 0;${at === 2 ? '' : 'background:#e6e8ee;color:#20242c'}">${one}</button>`).join('')}<p style="margin:12px 0 6px">People</p><button class=b>−</button> <b style="margin:0 14px">4</b> <button class=b>+</button></div><div class=c style="background:${p[1]};color:#fff"><div>Each pays</div><div class=big style="font-size:72px">24.93</div><div style="opacity:.8">Tip 15.21 · total 99.71</div></div></div>`,
  )

/** A picture made of circles and lines, new with every visit. */
export const generative: Scene = (title, p) =>
  `<!doctype html><meta charset=utf-8><title>${title}</title><style>body{margin:0;background:${p[0]};overflow:hidden}canvas{display:block;width:100vw;height:100vh}</style><canvas width=960 height=600></canvas><script>
const c=document.querySelector('canvas').getContext('2d');let s=${title.length * 31 + 5};const r=()=>(s=s*16807%2147483647)/2147483647
for(let i=0;i<${title.length % 2 === 0 ? 46 : 26};i++){const x=r()*960,y=r()*600,k=20+r()*120;c.globalAlpha=.55;c.fillStyle=['${p[1]}','${p[2]}','#ffffff'][i%3];c.beginPath();${title.length % 2 === 0 ? 'c.arc(x,y,k,0,7)' : 'c.moveTo(x,y-k);c.lineTo(x+k,y+k*.8);c.lineTo(x-k,y+k*.8)'};c.fill()}
c.globalAlpha=.8;c.strokeStyle='${p[0]}';c.lineWidth=2;for(let i=0;i<26;i++){c.beginPath();for(let x=0;x<=960;x+=8)c.lineTo(x,i*24+Math.sin(x/90+i/3)*20+Math.sin(x/37+i)*6);c.stroke()}</script>`

/** A clock face over a sky. */
export const clock: Scene = (title, p) =>
  `<!doctype html><meta charset=utf-8><title>${title}</title><style>body{margin:0;min-height:100vh;display:grid;place-items:center;background:radial-gradient(circle at 70% 20%,${p[1]},${p[0]} 70%);color:#fff;font-family:system-ui}svg{width:min(70vh,70vw)}</style><svg viewBox="-100 -100 200 200"><circle r="92" fill="#0003" stroke="#fff8" stroke-width="2"/>${Array.from({ length: 60 }, (_, at) => `<line y1="${at % 5 === 0 ? -80 : -86}" y2="-89" stroke="#fff" stroke-width="${at % 5 === 0 ? 3 : 1}" transform="rotate(${at * 6})"/>`).join('')}<line y2="-48" stroke="#fff" stroke-width="6" stroke-linecap="round" transform="rotate(305)"/><line y2="-72" stroke="#fff" stroke-width="4" stroke-linecap="round" transform="rotate(52)"/><line y1="14" y2="-78" stroke="${p[2]}" stroke-width="2" transform="rotate(190)"/><circle r="4" fill="${p[2]}"/></svg>`
