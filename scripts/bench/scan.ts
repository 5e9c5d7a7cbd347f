import { scan } from '../../src/apps/scan/inspection.ts'
import { cpuNs } from './load/load.ts'
import { atMost, type BenchRow } from './row.ts'

const size = 4 * 1024 * 1024 - 1024
const limitMs = 800

function fill(piece: string, before = '', after = ''): string {
  const count = Math.ceil((size - before.length - after.length) / piece.length)
  return before + piece.repeat(count).slice(0, size - before.length - after.length) + after
}

const game = `
function step(t) { const dx = (keys.right ? 1 : 0) - (keys.left ? 1 : 0); player.x += dx * speed
  for (const enemy of enemies) { if (hits(enemy, player)) { lives--; sounds.play('hit', { volume: 0.4 }) } }
  ctx.fillStyle = \`hsl(\${t % 360} 80% 50%)\`; ctx.fillText("score " + score, 10, 20) /* draws */ }
`

/** Pages of just under 4 MB: typical ones, and ones built to be slow. */
function pages(): [name: string, html: string][] {
  const script = ['<!doctype html><canvas></canvas><script>', '</script>'] as const
  return [
    ['game code', fill(game, ...script)],
    ['base64 sprites', fill('iVBORw0KGgoAAAANSUhEUgAA', '<script>const art = "', '"</script>')],
    [
      'data rows',
      fill('{"id":17,"name":"oak","x":3.25,"tags":["a","b"]},', '<script>const d=[', ']</script>'),
    ],
    [
      'minified, one line',
      fill('!function(e,t){for(var n=0;n<e.length;n++)t[n]=e[n]|0}(a,b);', ...script),
    ],
    [
      'article',
      fill('<p class="lead">The <b>quick</b> fox &amp; the lazy dog call it a day.</p>\n'),
    ],
    [
      'inline styles',
      fill('.a{color:red;background:url(data:image/png;base64,AA)}', '<style>', '</style>'),
    ],
    ['all <', fill('<')],
    ['all (', fill('(', ...script)],
    ['nested calls', fill('f(', ...script)],
    ['nested texts', fill('("a"+', ...script)],
    ['text sum', fill('"a"+', ...script)],
    ['one letter', fill('a')],
    ['one name', fill('a', ...script)],
    ['deep tags', fill('<div>')],
    ['attributes', fill(' a1=b', '<p', '>')],
    ['passwords', fill('<input type=password>')],
    ['open comment', fill('x', '<!--')],
    ['open script comment', fill('x', '<script>/*')],
    ['open text', fill('x', '<script>"')],
    ['open template', fill('x${', '<script>`')],
    ['nested templates', fill('`${', ...script)],
    ['regex groups', fill('(', '<script>/', '/</script>')],
    ['keys', fill(' sk-AKIAghp_')],
    ['evals', fill('eval(atob(', ...script)],
    ['deep blocks', fill('{atob ', ...script)],
    ['evals of texts', fill('eval("a=1");', ...script)],
    ['doubling', fill('a=a+a;', '<script>a="abcd";', '</script>')],
    ['login words', fill('sign in to your paypal account\n', '<input type=password>')],
    ['short lines', fill('<i></i><p>log in', '<input type=password>')],
    ['wallet words', fill('enter your the all ', '<input name=seedphrase>')],
    ['alarms', fill('your windows pc device call 1 800 ')],
    ['run', fill('windows + r paste verify ')],
    ['written pages', fill("d.innerHTML='<p>'+a;", ...script)],
    ['entities', fill('&amp;')],
  ]
}

/** Returns the CPU time of this thread in milliseconds. */
function millisecondsOf(html: string): number {
  const started = cpuNs(process.pid, process.pid)
  scan(html)
  return (cpuNs(process.pid, process.pid) - started) / 1e6
}

/** Measures the CPU of each page's scan, the better of two runs. */
export async function bench(): Promise<BenchRow[]> {
  return pages().map(([name, html]) => {
    const value = Math.min(millisecondsOf(html), millisecondsOf(html))
    return atMost(`scan 4 MB, ${name}`, value, limitMs, 'ms')
  })
}

if (import.meta.main)
  for (const { name, value, ok } of await bench()) {
    const speed = (size / 1024 / 1024 / (value / 1000)).toFixed(1)
    const mark = ok ? 'ok  ' : 'SLOW'
    console.log(`${mark} ${name.padEnd(36)} ${value.toFixed(0)} ms ${speed} MB/s`)
  }
