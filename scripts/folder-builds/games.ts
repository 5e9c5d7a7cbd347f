import { type Build, hdr, index, png, send, triangle } from './build.ts'

/** Games and scenes, each with files that its engine loads by itself. */
export const games: Record<string, Build> = {
  three: {
    packages: ['three@0.180.0', 'draco3dgltf@1', 'esbuild@0.25'],
    files: {
      'main.js': `import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js'
import { RGBELoader } from 'three/addons/loaders/RGBELoader.js'
import { DRACOLoader } from 'three/addons/loaders/DRACOLoader.js'
import { TextureLoader } from 'three'
const draco = new DRACOLoader().setDecoderPath('draco/')
const [gltf, hdr, picture, packed] = await Promise.all([
  new GLTFLoader().loadAsync('models/triangle.glb'), new RGBELoader().loadAsync('sky/two.hdr'),
  new TextureLoader().loadAsync('dot.png'), draco.loadAsync('models/triangle.drc')])
${send('gltf.scene.children[0].name, gltf.scene.children[0].geometry.attributes.position.count, hdr.image.width, picture.image.naturalWidth, packed.attributes.position.count')}`,
      'dist/models/triangle.glb': triangle(),
      'dist/sky/two.hdr': hdr,
      'dist/dot.png': png,
      'dist/index.html': index('<script type="module" src="main.js"></script>'),
      'build.mjs': `import { build } from 'esbuild'\nimport { cpSync, writeFileSync } from 'node:fs'\nimport draco from 'draco3dgltf'
await build({ entryPoints: ['main.js'], bundle: true, minify: true, format: 'esm', target: 'esnext', outdir: 'dist' })
for (const name of ['draco_decoder.wasm', 'draco_wasm_wrapper.js']) cpSync('node_modules/three/examples/jsm/libs/draco/' + name, 'dist/draco/' + name)
const lib = await draco.createEncoderModule()
const [encoder, builder, mesh] = [new lib.Encoder(), new lib.MeshBuilder(), new lib.Mesh()]
builder.AddFacesToMesh(mesh, 1, new Uint32Array([0, 1, 2]))
builder.AddFloatAttributeToMesh(mesh, lib.POSITION, 3, 3, new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]))
const out = new lib.DracoInt8Array()
const bytes = encoder.EncodeMeshToDracoBuffer(mesh, out)
writeFileSync('dist/models/triangle.drc', Uint8Array.from({ length: bytes }, (_, at) => out.GetValue(at)))`,
    },
    command: 'node build.mjs',
    out: 'dist',
  },
  babylon: {
    packages: ['@babylonjs/core@8', '@babylonjs/loaders@8', 'esbuild@0.25'],
    files: {
      'main.js': `import { NullEngine } from '@babylonjs/core/Engines/nullEngine.js'\nimport { Scene } from '@babylonjs/core/scene.js'
import { ImportMeshAsync } from '@babylonjs/core/Loading/sceneLoader.js'\nimport '@babylonjs/loaders/glTF/2.0/glTFLoader.js'
const scene = new Scene(new NullEngine())
const { meshes } = await ImportMeshAsync('models/triangle.glb', scene)
${send('meshes.length, meshes[1].name, meshes[1].getTotalVertices()')}`,
      'dist/models/triangle.glb': triangle(),
      'dist/index.html': index('<script type="module" src="main.js"></script>'),
    },
    command:
      'esbuild main.js --bundle --minify --splitting --format=esm --target=esnext --outdir=dist',
    out: 'dist',
  },
  pixi: {
    packages: ['pixi.js@8', 'esbuild@0.25'],
    files: {
      'main.js': `import { Assets } from 'pixi.js'
await Assets.init({ manifest: 'manifest.json', basePath: 'art' })
const { dot, sheet } = await Assets.loadBundle('game')
${send('dot.width, sheet.textures.half.width')}`,
      'dist/art/dot.png': png,
      'dist/art/sheet.json': JSON.stringify({
        frames: { half: { frame: { x: 0, y: 0, w: 1, h: 2 } } },
        meta: { image: 'dot.png', size: { w: 2, h: 2 }, scale: '1' },
      }),
      'dist/art/manifest.json': JSON.stringify({
        bundles: [
          {
            name: 'game',
            assets: [
              { alias: 'dot', src: 'dot.png' },
              { alias: 'sheet', src: 'sheet.json' },
            ],
          },
        ],
      }),
      'dist/index.html': index('<script type="module" src="main.js"></script>'),
    },
    command: 'esbuild main.js --bundle --minify --format=esm --target=esnext --outdir=dist',
    out: 'dist',
  },
  phaser: {
    packages: ['phaser@3.90.0', 'esbuild@0.25'],
    files: {
      'game.js': `new Phaser.Game({ type: Phaser.CANVAS, audio: { noAudio: true }, scene: {
  preload() { this.load.setPath('art'); this.load.image('dot', 'dot.png'); this.load.json('level', 'level.json'); this.load.spritesheet('halves', 'dot.png', { frameWidth: 1, frameHeight: 2 }) },
  create() { this.add.image(9, 9, 'dot'); ${send("this.textures.get('dot').getSourceImage().width, this.cache.json.get('level').n, this.textures.get('halves').frameTotal, this.game.renderer.type === Phaser.CANVAS")} } } })`,
      'dist/art/dot.png': png,
      'dist/art/level.json': '{"n":7}',
      'dist/index.html': index('<script src="phaser.js"></script><script src="game.js"></script>'),
      'build.mjs': `import { cpSync } from 'node:fs'\ncpSync('node_modules/phaser/dist/phaser.min.js', 'dist/phaser.js')\ncpSync('game.js', 'dist/game.js')`,
    },
    command: 'node build.mjs',
    out: 'dist',
  },
  p5: {
    packages: ['p5@1.11.10'],
    files: {
      'sketch.js': `let dot, level, lines
function preload() { dot = loadImage('art/dot.png'); level = loadJSON('level.json'); lines = loadStrings('lines.txt') }
function setup() { createCanvas(40, 40); image(dot, 0, 0); ${send('dot.width, level.n, lines.length, get(0, 0)[3]')} }`,
      'dist/art/dot.png': png,
      'dist/level.json': '{"n":7}',
      'dist/lines.txt': 'one\ntwo',
      'dist/index.html': index(
        '<script src="p5.min.js"></script><script src="sketch.js"></script>',
      ),
      'build.mjs': `import { cpSync } from 'node:fs'\ncpSync('node_modules/p5/lib/p5.min.js', 'dist/p5.min.js')\ncpSync('sketch.js', 'dist/sketch.js')`,
    },
    command: 'node build.mjs',
    out: 'dist',
  },
  littlejs: {
    packages: ['littlejsengine@1', 'esbuild@0.25'],
    files: {
      'main.js': `import * as LJS from 'littlejsengine'
LJS.setShowSplashScreen?.(false)
LJS.setGLEnable?.(false)
LJS.engineInit(() => { ${send('LJS.textureInfos[0].size.x, LJS.textureInfos.length')} }, () => {}, () => {}, () => {}, () => {}, ['art/dot.png'])`,
      'dist/art/dot.png': png,
      'dist/index.html': index('<script type="module" src="main.js"></script>'),
    },
    command: 'esbuild main.js --bundle --minify --format=esm --target=esnext --outdir=dist',
    out: 'dist',
  },
  excalibur: {
    packages: ['excalibur@0.30.3', 'esbuild@0.25'],
    files: {
      'main.js': `import { Engine, Flags, ImageSource, Loader } from 'excalibur'
Flags.useCanvasGraphicsContext()
const dot = new ImageSource('art/dot.png')
const game = new Engine({ width: 40, height: 40, suppressPlayButton: true, suppressConsoleBootMessage: true })
const loader = new Loader([dot]); loader.suppressPlayButton = true
await game.start(loader)
${send('dot.width, game.isRunning()')}`,
      'dist/art/dot.png': png,
      'dist/index.html': index('<script type="module" src="main.js"></script>'),
    },
    command: 'esbuild main.js --bundle --minify --format=esm --target=esnext --outdir=dist',
    out: 'dist',
  },
  'three-ktx2': {
    packages: ['three@0.180.0', 'ktx2-encoder@0.6.0', 'esbuild@0.25'],
    files: {
      // Without the formats of any GPU, its worker unpacks the texture to pixels.
      'main.js': `import { KTX2Loader } from 'three/addons/loaders/KTX2Loader.js'
const loader = new KTX2Loader().setTranscoderPath('basis/').detectSupport({ extensions: { has: () => false, get: () => null } })
const texture = await loader.loadAsync('art/dot.ktx2')
${send('texture.image.width, texture.image.height, texture.mipmaps[0].data.length')}`,
      'dist/index.html': index('<script type="module" src="main.js"></script>'),
      'build.mjs': `import { build } from 'esbuild'\nimport { cpSync, mkdirSync, writeFileSync } from 'node:fs'\nimport { encodeToKTX2 } from 'ktx2-encoder'
await build({ entryPoints: ['main.js'], bundle: true, minify: true, format: 'esm', target: 'esnext', outdir: 'dist' })
for (const name of ['basis_transcoder.js', 'basis_transcoder.wasm']) cpSync('node_modules/three/examples/jsm/libs/basis/' + name, 'dist/basis/' + name)
const imageDecoder = async () => ({ width: 4, height: 4, data: new Uint8Array(64).fill(200) })
mkdirSync('dist/art', { recursive: true })
writeFileSync('dist/art/dot.ktx2', await encodeToKTX2(new Uint8Array(1), { isUASTC: true, generateMipmap: false, needSupercompression: false, imageDecoder }))`,
    },
    command: 'node build.mjs',
    out: 'dist',
  },
  playcanvas: {
    packages: ['playcanvas@2.12.4', 'esbuild@0.25'],
    files: {
      'main.js': `import { AppBase, AppOptions, ContainerHandler, JsonHandler, NullGraphicsDevice, RenderComponentSystem, TextureHandler } from 'playcanvas'
const canvas = document.querySelector('canvas')
const options = new AppOptions()
options.graphicsDevice = new NullGraphicsDevice(canvas)
options.componentSystems = [RenderComponentSystem]
options.resourceHandlers = [ContainerHandler, JsonHandler, TextureHandler]
const app = new AppBase(canvas)
app.init(options)
app.start()
const load = (url, type) => new Promise((done, fail) => app.assets.loadFromUrl(url, type, (error, asset) => error ? fail(error) : done(asset)))
const [level, dot, model] = await Promise.all([load('files/level.json', 'json'), load('files/dot.png', 'texture'), load('files/triangle.glb', 'container')])
${send('level.resource.n, dot.resource.width, model.resource.instantiateRenderEntity().name')}`,
      'dist/files/level.json': '{"n":7}',
      'dist/files/dot.png': png,
      'dist/files/triangle.glb': triangle(),
      'dist/index.html': index('<canvas></canvas><script type="module" src="main.js"></script>'),
    },
    command:
      'esbuild main.js --bundle --minify --format=esm --target=esnext --external:node:worker_threads --outdir=dist',
    out: 'dist',
  },
  kaboom: {
    packages: ['kaboom@3000.1.17', 'esbuild@0.25'],
    files: {
      'main.js': `import kaboom from 'kaboom'
const k = kaboom({ width: 40, height: 40, global: false })
k.loadRoot('art/')
k.loadSprite('dot', 'dot.png', { sliceX: 2 })
k.loadJSON('level', 'art/level.json')
k.scene('play', () => { k.add([k.sprite('dot'), k.pos(0, 0)]); ${send("k.getSprite('dot').data.frames.length, k.getAsset('level').data.n")} })
k.onLoad(() => k.go('play'))`,
      'dist/art/dot.png': png,
      'dist/art/level.json': '{"n":7}',
      'dist/index.html': index('<script type="module" src="main.js"></script>'),
    },
    command: 'esbuild main.js --bundle --minify --format=esm --target=esnext --outdir=dist',
    out: 'dist',
  },
}
