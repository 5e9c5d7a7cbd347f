import { type Build, png, send, styled } from './build.ts'

const about = `${styled}\nstyled.then(async (style) => { const all = [...document.images]; await Promise.all(all.map((one) => one.decode())); ${send('style, document.title, ...all.map((one) => one.naturalWidth)')} })`

/** Pages as other tools save them: documents, mirrors and downloads of chats. */
export const documents: Record<string, Build> = {
  // Two hosts, a style sheet with a query, and what it loads. Port 80 gives folders their names.
  wget: {
    packages: [],
    files: {
      'reef/index.html': `<!doctype html><html><head><meta charset="utf-8"><title>Reef</title><link rel="stylesheet" href="//127.0.0.3/css/site.css?ver=6.2"><script src="//127.0.0.3/js/site.js?ver=1"></script></head>
<body><img src="/media/dot.png?w=300" srcset="/media/dot.png?w=300 1x, /media/dot.png?w=600 2x" alt=""><a href="https://elsewhere.example/">elsewhere</a></body></html>`,
      'reef/media/dot.png': png,
      'cdn/css/site.css':
        "@import url('parts/colors.css?ver=6.2');body{background:url(/art/back.png?v=2)}",
      'cdn/css/parts/colors.css': 'body{color:red}',
      'cdn/art/back.png': png,
      'cdn/js/site.js': `addEventListener('load', () => { ${about.replaceAll('\n', ';')} })`,
      'build.sh': `python3 -m http.server 80 --bind 127.0.0.2 --directory reef 2>/dev/null & one=$!
python3 -m http.server 80 --bind 127.0.0.3 --directory cdn 2>/dev/null & two=$!
trap 'kill $one $two' EXIT
mkdir dist && cd dist
wget -nv --retry-connrefused --tries=5 -p -k -H -E http://127.0.0.2/`,
    },
    command: 'sh build.sh',
    out: 'dist',
  },
  // Pandoc writes the page as it does inside Quarto, with Quarto's layout of a site and its search.
  'quarto-like': {
    packages: ['bootstrap@5.3.3', '@popperjs/core@2.11.8', 'tippy.js@6.3.7', 'clipboard@2.0.11'],
    files: {
      'report.md':
        '---\ntitle: Reef\n---\n\n## Corals {#sec-corals}\n\nSee [Corals](#sec-corals), [the notes](notes.html) and $x^2$.\n\n![A dot](report_files/figure-html/fig-1.png)\n\n```{.js}\nlet a = 1\n```\n',
      'notes.md': '---\ntitle: Notes\n---\n\nBack to [the report](./index.html).\n',
      'dist/report_files/figure-html/fig-1.png': png,
      'dist/search.json': '[{"objectID":"index.html","title":"Reef","text":"Corals"}]',
      'dist/site_libs/quarto-html/quarto.js': `import * as tabsets from './tabsets.js'
const offset = document.querySelector('meta[name="quarto:offset"]').content
window.addEventListener('DOMContentLoaded', async () => {
  const items = await (await fetch(new URL(offset + 'search.json', document.baseURI))).json()
  new ClipboardJS('.code-copy-button', { text: () => 'a' })
  const tip = tippy(document.querySelector('a[href^="#"]'), { content: 'Corals' })
  const hidden = document.createElement('b'); hidden.className = 'd-none'; document.body.append(hidden)
  const image = document.querySelector('img'); await image.decode()
  ${send("document.title, items[0].text, tip.props.content, tabsets.count, getComputedStyle(hidden).display, image.naturalWidth, document.querySelector('math, .math') !== null")}
})`,
      'dist/site_libs/quarto-html/tabsets.js': 'export const count = 0',
      'head.html': `<meta name="quarto:offset" content="./">
<script src="site_libs/clipboard/clipboard.min.js"></script><script src="site_libs/quarto-html/popper.min.js"></script><script src="site_libs/quarto-html/tippy.umd.min.js"></script>
<script src="site_libs/quarto-html/quarto.js" type="module"></script>
<link href="site_libs/quarto-html/tippy.css" rel="stylesheet"><link href="site_libs/bootstrap/bootstrap.min.css" rel="stylesheet" append-hash="true" id="quarto-bootstrap" data-mode="light">`,
      'notes.html': `<script type="module">${send("'notes', document.title")}</script>`,
      'build.sh': `set -e
python3 -m venv tools && tools/bin/pip install -q pypandoc_binary==1.15
pandoc=$(tools/bin/python -c 'import pypandoc; print(pypandoc.get_pandoc_path())')
$pandoc -s --toc --mathml -H head.html report.md -o dist/index.html
$pandoc -s -H notes.html notes.md -o dist/notes.html
cd node_modules; libs=../dist/site_libs; mkdir -p $libs/clipboard $libs/bootstrap
cp clipboard/dist/clipboard.min.js $libs/clipboard; cp bootstrap/dist/css/bootstrap.min.css $libs/bootstrap
cp @popperjs/core/dist/umd/popper.min.js tippy.js/dist/tippy.umd.min.js tippy.js/dist/tippy.css $libs/quarto-html`,
    },
    command: 'sh build.sh',
    out: 'dist',
  },
  // Laid out as an export of Bitsy: one page with its game as text, and scripts that read it.
  'bitsy-like': {
    packages: [],
    files: {
      'dist/Reef Walk.html': `<!DOCTYPE HTML>
<html>
<!-- BITSY VERSION 8.12 -->
<head>
<meta http-equiv="Content-Type" content="text/html; charset=utf-8" />
<title>Reef Walk</title>
<script type="text/bitsyGameData" id="exportedGameData">
Reef Walk

# BITSY VERSION 8.12

ROOM 0
0,0,a
0,0,0

TIL a
10
01

DLG 0
"""
</p> a < b && "c"
"""
</script>
<style>html { background-color: #000 } #game { width: 100%; image-rendering: pixelated }</style>
<script type="text/bitsyFontData" id="ascii_small">
FONT ascii_small
SIZE 6 8
</script>
<script>
/* SYSTEM */
var canvas, context, world = { room: {}, dialog: {} };
function parseWorld(file) {
  var lines = file.split("\\n"), rooms = 0;
  for (var at = 0; at < lines.length; at++) {
    if (/^ROOM /.test(lines[at])) rooms++;
    if (lines[at] === '"""') { world.dialog[0] = lines[at + 1]; at += 2; }
  }
  return { title: lines[0], rooms: rooms };
}
</script>
<script>
/* ENGINE */
function startExportedGame() {
  canvas = document.getElementById("game"); context = canvas.getContext("2d");
  var file = document.getElementById("exportedGameData").text.slice(1);
  var font = document.getElementById("ascii_small").text.slice(1).split("\\n")[0];
  var game = parseWorld(file);
  context.fillRect(0, 0, 4, 4);
  document.title = game.title;
  document.addEventListener("keydown", function (event) { ${send('event.key, document.activeElement === document.body || document.activeElement === canvas')} });
  ${send('document.title, game.rooms, world.dialog[0], font, context.getImageData(0, 0, 1, 1).data[3]')};
}
</script>
</head>
<body onload='startExportedGame()'>
<canvas id="game"></canvas>
</body>
</html>`,
    },
    command: 'true',
    out: 'dist',
  },
  // "Download all" of an answer with several files: no folder, and the notes beside the page.
  claude: {
    packages: [],
    files: {
      'index.html': `<!DOCTYPE html>
<html lang="en">
<head><meta charset="UTF-8"><meta name="viewport" content="width=device-width, initial-scale=1.0"><title>Reef</title><link rel="stylesheet" href="styles.css"></head>
<body><script src="game.js"></script></body>
</html>`,
      'styles.css': 'body { color: red; }',
      'game.js': about,
      'README.md': '# Reef\n\nOpen `index.html` in your browser.',
    },
    command: 'python3 -m zipfile -c out.zip index.html styles.css game.js README.md',
    out: 'out.zip',
  },
  // A folder that Python packed in the chat's own machine, with entries for folders.
  chatgpt: {
    packages: [],
    files: {
      'data/reef_game/index.html':
        '<!doctype html>\n<html><head><meta charset="utf-8"><title>Reef – Spiel</title><link rel="stylesheet" href="./css/style.css"></head><body><img src="./assets/Fisch (1).png"><script type="module" src="./js/main.js"></script></body></html>',
      'data/reef_game/css/style.css': 'body{color:red}',
      'data/reef_game/assets/Fisch (1).png': png,
      'data/reef_game/js/main.js': about,
      'data/reef_game/requirements.txt': '',
    },
    command: `python3 -c "import shutil; shutil.make_archive('out', 'zip', 'data', 'reef_game')"`,
    out: 'out.zip',
  },
}
