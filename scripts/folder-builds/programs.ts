import { type Build, index, png, send, styled } from './build.ts'

/** Programs in WebAssembly, notebooks, stories and slides, as their own tools export them. */
export const programs: Record<string, Build> = {
  micropython: {
    packages: ['@micropython/micropython-webassembly-pyscript@1.25.0'],
    files: {
      'main.js': `import { loadMicroPython } from './micropython.mjs'
const python = await loadMicroPython()
python.runPython('import json\\ntotal = sum(json.loads("[1, 2, 4]"))')
${send("python.globals.get('total')")}`,
      'dist/index.html': index('<script type="module" src="main.js"></script>'),
      'build.mjs': `import { cpSync } from 'node:fs'
for (const name of ['micropython.mjs', 'micropython.wasm']) cpSync('node_modules/@micropython/micropython-webassembly-pyscript/' + name, 'dist/' + name)
cpSync('main.js', 'dist/main.js')`,
    },
    command: 'node build.mjs',
    out: 'dist',
  },
  pyodide: {
    packages: ['pyodide@314.0.7'],
    files: {
      'dist/main.js': `import { loadPyodide } from './pyodide/pyodide.mjs'
const python = await loadPyodide({ indexURL: './pyodide/' })
const text = await python.runPythonAsync('from pyodide.http import pyfetch\\nresponse = await pyfetch("data/words.txt")\\nawait response.text()')
${send("python.runPython('sum([1, 2, 4])'), text")}`,
      'dist/data/words.txt': 'reef',
      'dist/index.html': index('<script type="module" src="main.js"></script>'),
      'build.mjs': `import { cpSync } from 'node:fs'
for (const name of ['pyodide.mjs', 'pyodide.asm.js', 'pyodide.asm.mjs', 'pyodide.asm.wasm', 'python_stdlib.zip', 'pyodide-lock.json'])
  try { cpSync('node_modules/pyodide/' + name, 'dist/pyodide/' + name) } catch {}`,
    },
    command: 'node build.mjs',
    out: 'dist',
    isLarge: true,
  },
  // The movie has a size, a color and one frame.
  ruffle: {
    packages: ['@ruffle-rs/ruffle@0.6.0'],
    files: {
      'dist/movies/reef.swf': Buffer.from(
        '465753061c00000060003e80003e80000c0100430200408040000000',
        'hex',
      ),
      'dist/index.html': index(`<script src="ruffle/ruffle.js"></script><script>
addEventListener('load', async () => {
  const player = RufflePlayer.newest().createPlayer()
  player.addEventListener('loadedmetadata', () => { const { metadata } = player.ruffle(); ${send('metadata.width, metadata.height, metadata.frameRate')} })
  document.getElementById('app').append(player)
  await player.ruffle().load({ url: 'movies/reef.swf', autoplay: 'on' })
})</script>`),
      'build.mjs': `import { cpSync } from 'node:fs'\ncpSync('node_modules/@ruffle-rs/ruffle', 'dist/ruffle', { recursive: true, filter: (path) => !/\\.map$|\\.md$/.test(path) })`,
    },
    command: 'node build.mjs',
    out: 'dist',
    isLarge: true,
  },
  reveal: {
    packages: ['reveal.js@5', 'esbuild@0.25'],
    files: {
      'deck.js': `import Reveal from 'reveal.js'\nimport Notes from 'reveal.js/plugin/notes/notes.esm.js'
import 'reveal.js/dist/reveal.css'\n${styled}
const deck = new Reveal({ plugins: [Notes], hash: true })
await deck.initialize()
deck.next()
await new Promise((done) => setTimeout(done, 50))
${send('await styled, deck.getTotalSlides(), deck.getIndices().h')}`,
      'index.html':
        '<!doctype html><html><head><meta charset="utf-8"><title>Deck</title><link rel="stylesheet" href="out/deck.css"><style>body{color:red}</style></head><body><div class="reveal"><div class="slides"><section>1</section><section>2</section></div></div><script type="module" src="out/deck.js"></script></body></html>',
      'build.mjs': `import { build } from 'esbuild'\nimport { cpSync } from 'node:fs'
await build({ entryPoints: ['deck.js'], bundle: true, minify: true, format: 'esm', outdir: 'dist/out' })
cpSync('index.html', 'dist/index.html')`,
    },
    command: 'node build.mjs',
    out: 'dist',
  },
  notebook: {
    packages: [],
    files: {
      'notebook.ipynb': JSON.stringify({
        nbformat: 4,
        nbformat_minor: 5,
        metadata: { kernelspec: { name: 'python3', display_name: 'Python 3', language: 'python' } },
        cells: [
          {
            cell_type: 'markdown',
            id: 'a',
            metadata: {},
            source: '# Reef\n![dot](art/dot.png) and $x^2$',
          },
          {
            cell_type: 'code',
            id: 'b',
            metadata: {},
            execution_count: 1,
            source: 'show()',
            outputs: [
              {
                output_type: 'display_data',
                metadata: {},
                data: {
                  'text/html': `<p id="out">7</p><script>addEventListener('load', async () => { const i = document.querySelector('img'); await i.decode(); ${send("document.querySelector('h1').firstChild.data, out.textContent, i.naturalWidth, getComputedStyle(document.querySelector('.jp-InputArea')).display")} })</script>`,
                },
              },
            ],
          },
        ],
      }),
      'dist/art/dot.png': png,
      'build.sh': `python3 -m venv tools && tools/bin/pip install -q nbconvert==7.17.2
tools/bin/jupyter nbconvert --to html --output-dir dist --output index.html notebook.ipynb`,
    },
    command: 'sh build.sh',
    out: 'dist',
  },
  // The compiler is that of Twine's formats; the format itself is a small one.
  twine: {
    packages: ['extwee@2.3.18'],
    files: {
      'format.js': `window.storyFormat(${JSON.stringify({
        name: 'Small',
        version: '1.0.0',
        proofing: false,
        source: `<!doctype html><html><head><meta charset="utf-8"><title>{{STORY_NAME}}</title></head><body><main></main>{{STORY_DATA}}<script>
const story = document.querySelector('tw-storydata'), said = []
const show = async (name) => {
  const passage = [...document.querySelectorAll('tw-passagedata')].find((one) => one.getAttribute('name') === name)
  document.querySelector('main').innerHTML = passage.textContent.replace(/\\[\\[(.*?)\\]\\]/g, '<a data-to="$1">$1</a>')
  localStorage.setItem('at', name)
  for (const i of document.querySelectorAll('main img')) { await i.decode(); said.push(i.naturalWidth) }
  const next = document.querySelector('main a')
  if (next) return next.click()
  ${send('document.title, localStorage.getItem("at"), ...said')}
}
document.addEventListener('click', (event) => event.target.dataset.to && show(event.target.dataset.to))
show([...document.querySelectorAll('tw-passagedata')].find((one) => one.getAttribute('pid') === story.getAttribute('startnode')).getAttribute('name'))
</script></body></html>`,
      })});`,
      'story.twee':
        ':: StoryTitle\nReef\n\n:: StoryData\n{"ifid":"D674C58C-DEFA-4F70-B7A2-27742230C0FC","format":"Small","format-version":"1.0.0","start":"Shore"}\n\n:: Shore\n<img src="art/dot.png"> Swim to the [[Reef]]\n\n:: Reef\nYou are there.\n',
      'dist/art/dot.png': png,
    },
    command: 'extwee -c -s format.js -i story.twee -o dist/index.html',
    out: 'dist',
  },
}
