import { type Build, png, send, wasm } from './build.ts'

/** Compiles a program with emcc, which Debian has in its package emscripten (3.1.6). */
const emcc = (out: string, flags: string): string =>
  `mkdir -p dist && emcc main.c -O1 ${flags} -o ${out}`

/** Posts what a program in C found, from its functions in JavaScript. */
const posts = (values: string): string => `{ ${send(values)} }`

/** Reads a number from a file, and writes one that IndexedDB keeps. */
const saves = (folder: string): string => `
  FILE *save = fopen("${folder}/n.txt", "w"); fprintf(save, "%d", n); fclose(save);
  EM_ASM({ FS.syncfs(false, (error) => { Module.finished($0, error ? 0 : 1) }) }, n);`

const page = (head: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Reef</title>${head}</head><body>${body}</body></html>`

/** A sound of 8 samples, as PCM. */
const wav = Buffer.concat([
  Buffer.from('UklGRjQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YRAAAAA=', 'base64'),
  Buffer.alloc(16, 128),
])

/** Zips the files of a folder. */
const zipped = (folder: string, zip: string): string =>
  `(cd ${folder} && python3 -m zipfile -c ../${zip} *)`

/** Exports of engines that start a program in WebAssembly or load a whole game by scripts. */
export const engines: Record<string, Build> = {
  // SDL 1, files that emcc packs, and saves in IndexedDB.
  emscripten: {
    packages: [],
    files: {
      'assets/level.txt': '7',
      'main.c': `#include <SDL/SDL.h>
#include <emscripten.h>
#include <stdio.h>
static int n = 0, frames = 0;
EM_JS(void, prepare, (void), { Module.finished = (n, isSaved) => ${posts('n, isSaved, Module.canvas.width')} });
static void frame(void) {
  if (++frames != 3) return;
  ${saves('/saves')}
}
int main(void) {
  prepare();
  SDL_Init(SDL_INIT_VIDEO); SDL_SetVideoMode(40, 30, 32, SDL_SWSURFACE);
  FILE *level = fopen("/assets/level.txt", "r"); fscanf(level, "%d", &n); fclose(level);
  EM_ASM({ FS.mkdir('/saves'); FS.mount(IDBFS, {}, '/saves') });
  emscripten_set_main_loop(frame, 0, 0);
  return 0;
}`,
      'build.sh': emcc(
        'dist/index.html',
        '-sUSE_SDL=1 -sMINIFY_HTML=0 -lidbfs.js --preload-file assets',
      ),
    },
    command: 'sh build.sh',
    out: 'dist',
  },
  // Needs the target wasm32-unknown-unknown of Rust, and wasm-bindgen of Cargo. It has a window, a
  // canvas and an asset, and no renderer, whose program has several times the size.
  bevy: {
    packages: [],
    files: {
      'dist/assets/levels/reef.level': '7',
      'Cargo.toml': `[package]
name = "reef"
version = "1.0.0"
edition = "2021"
[dependencies]
bevy = { version = "=0.16.1", default-features = false, features = ["std", "async_executor", "bevy_winit", "bevy_asset", "bevy_state", "web"] }
wasm-bindgen = "=0.2.100"
[profile.release]
opt-level = "z"
lto = "thin"
codegen-units = 1
panic = "abort"
strip = true`,
      'src/main.rs': `use bevy::asset::{io::Reader, AssetLoader, LoadContext};
use bevy::prelude::*;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(inline_js = "export function said(n, width) { top.postMessage({ said: [n, width, document.querySelector('canvas') !== null] }, '*') }")]
extern "C" {
    fn said(n: f64, width: f64);
}

#[derive(Asset, TypePath)]
struct Level(f64);

#[derive(Default)]
struct LevelLoader;

impl AssetLoader for LevelLoader {
    type Asset = Level;
    type Settings = ();
    type Error = std::io::Error;
    async fn load(&self, reader: &mut dyn Reader, _: &(), _: &mut LoadContext<'_>) -> Result<Level, std::io::Error> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await?;
        Ok(Level(String::from_utf8_lossy(&bytes).trim().parse().unwrap_or(-1.0)))
    }
    fn extensions(&self) -> &[&str] {
        &["level"]
    }
}

#[derive(Resource)]
struct Open(Handle<Level>);

fn start(mut commands: Commands, server: Res<AssetServer>) {
    commands.insert_resource(Open(server.load("levels/reef.level")));
}

fn show(open: Res<Open>, levels: Res<Assets<Level>>, windows: Query<&Window>, mut is_done: Local<bool>) {
    let Some(level) = levels.get(&open.0) else { return };
    let Ok(window) = windows.single() else { return };
    if *is_done {
        return;
    }
    *is_done = true;
    said(level.0, window.resolution.width() as f64);
}

fn main() {
    App::new()
        .add_plugins(DefaultPlugins.set(WindowPlugin {
            primary_window: Some(Window { resolution: (320., 180.).into(), ..default() }),
            ..default()
        }))
        .init_asset::<Level>()
        .init_asset_loader::<LevelLoader>()
        .add_systems(Startup, start)
        .add_systems(Update, show)
        .run();
}`,
      'dist/index.html': page(
        '',
        `<script type="module">import init from './reef.js'
init().catch((error) => { if (!error.message.startsWith('Using exceptions for control flow')) throw error })</script>`,
      ),
      'build.sh': `set -e
cargo build --release --target wasm32-unknown-unknown
wasm-bindgen --target web --no-typescript --out-dir dist target/wasm32-unknown-unknown/release/reef.wasm`,
    },
    command: 'sh build.sh',
    out: 'dist',
  },
  // Laid out as an export of Godot 4 without threads: its engine has 37 MB. The loader follows the
  // steps of Godot's own: streams with progress, a pack, saves, a worklet, a worker of the site.
  'godot-like': {
    packages: [],
    files: {
      'main.c': `#include <emscripten.h>
#include <stdio.h>
#include <string.h>
int main(int count, char **words) {
  int n = 0;
  if (count < 3 || strcmp(words[1], "--main-pack") != 0) return 1;
  FILE *pack = fopen(words[2], "r"); fscanf(pack, "GDPC %d", &n); fclose(pack);
  ${saves('/userfs')}
  return 0;
}`,
      'engine.js': `class Engine {
  constructor(config) { this.config = config; this.files = {} }
  async fetch(name, isRaw) {
    const status = this.files[name] = { loaded: 0, total: this.config.fileSizes[name] }
    const response = await fetch(name)
    if (!response.ok) throw new Error('Failed loading file ' + name)
    const reader = response.body.getReader()
    const stream = new ReadableStream({ async start(controller) {
      for (;;) { const { done, value } = await reader.read(); if (done) break; status.loaded += value.length; controller.enqueue(value) }
      controller.close()
    } })
    const tracked = new Response(stream, { headers: response.headers })
    return isRaw ? tracked : tracked.arrayBuffer()
  }
  async startGame({ onProgress, canvas }) {
    const { executable, args } = this.config, pack = executable + '.pck'
    const [program, content] = await Promise.all([this.fetch(executable + '.wasm', true), this.fetch(pack)])
    const typed = new Response(program.clone().body, { headers: [['content-type', 'application/wasm']] })
    const module = await Godot({ canvas, thisProgram: executable, finished: this.config.finished,
      locateFile: (path) => path.replace(/^godot/, executable),
      instantiateWasm(imports, done) { WebAssembly.instantiateStreaming(Promise.resolve(typed), imports).then((made) => done(made.instance, made.module)); return {} } })
    module.FS.mkdir('/userfs'); module.FS.mount(module.FS.filesystems.IDBFS, {}, '/userfs')
    await new Promise((done) => module.FS.syncfs(true, done))
    module.FS.writeFile(pack, new Uint8Array(content))
    onProgress(Object.values(this.files).every(({ loaded, total }) => loaded === total))
    const audio = new AudioContext({ sampleRate: 44100 })
    await audio.audioWorklet.addModule(executable + '.audio.worklet.js')
    this.node = new AudioWorkletNode(audio, 'godot-processor', { outputChannelCount: [2] })
    module.callMain(['--main-pack', pack, ...args])
    if ('serviceWorker' in navigator) await navigator.serviceWorker.register(this.config.serviceWorker)
  }
}`,
      'dist/index.audio.worklet.js':
        "class GodotProcessor extends AudioWorkletProcessor { process() { return true } }\nregisterProcessor('godot-processor', GodotProcessor)",
      'dist/index.service.worker.js': 'self.addEventListener("fetch", () => {})',
      'dist/index.pck': 'GDPC 7',
      'dist/index.icon.png': png,
      'page.html': page(
        '<link rel="icon" href="index.icon.png"><link rel="manifest" href="index.manifest.json">',
        `<canvas id="canvas"></canvas><script src="index.js"></script><script>
const GODOT_CONFIG = { args: [], executable: 'index', fileSizes: SIZES, serviceWorker: 'index.service.worker.js' }
let isWhole
GODOT_CONFIG.finished = (n, isSaved) => ${posts('n, isSaved, isWhole, engine.node instanceof AudioWorkletNode')}
const engine = new Engine(GODOT_CONFIG)
engine.startGame({ canvas: document.getElementById('canvas'), onProgress: (whole) => { isWhole = whole } }).catch((error) => console.warn(error))
</script>`,
      ),
      'dist/index.manifest.json': '{"name":"Reef","start_url":"./index.html"}',
      'build.sh': `set -e
${emcc('godot.js', '-sMODULARIZE -sEXPORT_NAME=Godot -sINVOKE_RUN=0 -sEXIT_RUNTIME=0 -sINCOMING_MODULE_JS_API=canvas,thisProgram,locateFile,instantiateWasm -sEXPORTED_RUNTIME_METHODS=callMain,FS -lidbfs.js -sFORCE_FILESYSTEM')}
cat godot.js engine.js > dist/index.js && echo 'window.Engine = Engine' >> dist/index.js && cp godot.wasm dist/index.wasm
sizes="{\\"index.wasm\\":$(stat -c %s dist/index.wasm),\\"index.pck\\":$(stat -c %s dist/index.pck)}"
sed "s/SIZES/$sizes/" page.html > dist/index.html`,
    },
    command: 'sh build.sh',
    out: 'dist',
  },
  // Laid out as a web build of Ren'Py: a program, its data, a zip of the game, and files on demand.
  'renpy-like': {
    packages: [],
    files: {
      'lib/boot.txt': '4',
      'game/script.rpy': '3',
      'dist/game/images/Shore at night.png': png,
      'dist/web-presplash.png': png,
      'dist/service-worker.js': 'self.addEventListener("fetch", () => {})',
      'dist/manifest.json': '{"name":"Reef","start_url":"index.html"}',
      'main.c': `#include <emscripten.h>
#include <stdio.h>
static int n = 0;
static void loaded(void *arg, void *bytes, int size) {
  n += size;
  ${saves('/home/web_user/.renpy')}
}
static void failed(void *arg) { n = -1; loaded(0, 0, 0); }
int main(void) {
  FILE *boot = fopen("/lib/boot.txt", "r"); fscanf(boot, "%d", &n); fclose(boot);
  FILE *zip = fopen("/game.zip", "rb"); fseek(zip, 0, SEEK_END); if (ftell(zip) < 22) n = -100; fclose(zip);
  emscripten_async_wget_data("game/images/Shore at night.png", 0, loaded, failed);
  return 0;
}`,
      'dist/renpy-pre.js': `var Module = {
  arguments: [], canvas: document.getElementById('canvas'),
  finished: (n, isSaved) => { const shown = document.getElementById('presplash'); shown.decode().then(() => ${posts('n, isSaved, shown.naturalWidth')}) },
  setStatus: (text) => { document.getElementById('status').textContent = text },
  preRun: [() => {
    addRunDependency('game'); addRunDependency('saves')
    FS.mkdirTree('/home/web_user/.renpy'); FS.mount(IDBFS, {}, '/home/web_user/.renpy')
    FS.syncfs(true, () => removeRunDependency('saves'))
    fetch('game.zip?version=1').then(async (response) => {
      const reader = response.body.getReader(), parts = []
      for (;;) { const { done, value } = await reader.read(); if (done) break; parts.push(value) }
      FS.writeFile('/game.zip', new Uint8Array(await new Blob(parts).arrayBuffer()))
      removeRunDependency('game')
    })
  }],
}
if ('serviceWorker' in navigator) navigator.serviceWorker.register('service-worker.js').catch(() => {})`,
      'dist/index.html': page(
        '<link rel="manifest" href="manifest.json">',
        `<img id="presplash" src="web-presplash.png" alt=""><div id="status"></div><canvas id="canvas"></canvas>
<script src="renpy-pre.js"></script><script async src="renpy.js"></script>`,
      ),
      'build.sh': `set -e
${emcc('dist/renpy.js', '-lidbfs.js --preload-file lib')}
${zipped('game', 'dist/game.zip')}`,
    },
    command: 'sh build.sh',
    out: 'dist',
  },
  // Laid out as an export of PICO-8: one script without WebAssembly, which a click adds.
  'pico8-like': {
    packages: [],
    files: {
      'main.c': `#include <SDL/SDL.h>
#include <emscripten.h>
#include <stdio.h>
static int n = 0, frames = 0;
static void frame(void) {
  if (++frames != 2) return;
  SDL_Surface *screen = SDL_GetVideoSurface();
  SDL_LockSurface(screen); ((unsigned *)screen->pixels)[0] = 0xff0000ff; SDL_UnlockSurface(screen);
  ${saves('/cdata')}
}
int main(int count, char **words) {
  n = EM_ASM_INT({ return _cartdat[0] + ($0 > 1 && UTF8ToString(HEAPU32[$1 / 4 + 1]) === 'reef.p8' ? 1 : 0) }, count, words);
  SDL_Init(SDL_INIT_VIDEO); SDL_SetVideoMode(128, 128, 32, SDL_SWSURFACE);
  EM_ASM({ FS.mkdir('/cdata'); FS.mount(IDBFS, {}, '/cdata') });
  emscripten_set_main_loop(frame, 0, 0);
  return 0;
}`,
      'dist/index.html': page(
        '<style>body { background: #222 } .p8_button { position: fixed; inset: 0 }</style>',
        `<canvas class="emscripten" id="canvas" width="128" height="128" oncontextmenu="event.preventDefault()"></canvas>
<button class="p8_button" onclick="p8_run_cart()">Play</button><script>
var pico8_gpio = new Array(128), pico8_buttons = [0, 0, 0, 0, 0, 0, 0, 0], pico8_audio_context
var Module = { canvas: document.getElementById('canvas'), arguments: ['reef.p8'],
  finished: (n, isSaved) => ${posts("n, isSaved, Module.canvas.getContext('2d').getImageData(0, 0, 1, 1).data[0], pico8_audio_context.state !== undefined")} }
function p8_run_cart() {
  pico8_audio_context = new (window.AudioContext || window.webkitAudioContext)()
  document.querySelector('.p8_button').remove()
  const script = document.createElement('script')
  script.type = 'application/javascript'
  script.src = 'reef.js'
  document.body.appendChild(script)
}
function p8_gamepads() { navigator.getGamepads(); requestAnimationFrame(p8_gamepads) }
requestAnimationFrame(p8_gamepads)
top.postMessage({ said: 'ready' }, '*')
</script>`,
      ),
      'build.sh': `set -e
${emcc('reef.js', '-sWASM=0 -sSINGLE_FILE -sUSE_SDL=1 -lidbfs.js --memory-init-file 0')}
(echo 'var _cartdat = [7, 112, 56];' && cat reef.js) > dist/reef.js`,
    },
    command: 'sh build.sh',
    out: 'dist',
  },
  // Laid out as RPG Maker MZ deploys a game: a list of scripts, data, and an encrypted image.
  'rpgmaker-like': {
    packages: ['pixi.js@5.3.12', 'pako@2.1.0', 'localforage@1.10.0', '@fontsource/m-plus-1p@5.3.0'],
    files: {
      'dist/data/System.json': '{"gameTitle":"Reef","title1Name":"Shore at night","n":7}',
      'dist/img/titles1/Shore at night.png': png,
      'dist/js/plugins.js':
        'var $plugins = [{"name":"Steps","status":true,"description":"","parameters":{}}];',
      'dist/js/plugins/Steps.js':
        '(() => { PluginManager.done.push(decodeURIComponent(document.currentScript._url)) })()',
      'dist/js/libs/effekseer.wasm': wasm,
      'dist/js/libs/effekseer.min.js': `const effekseer = { initRuntime(path, done, failed) {
  WebAssembly.instantiateStreaming(fetch(path)).then(({ instance }) => { this.add = instance.exports.add; done() }, failed) } }`,
      'dist/js/main.js': `const scriptUrls = ['js/libs/pixi.js', 'js/libs/pako.min.js', 'js/libs/localforage.min.js', 'js/libs/effekseer.min.js', 'js/rmmz_core.js', 'js/plugins.js']
class Main {
  constructor() { this.loadCount = 0 }
  run() {
    for (const url of scriptUrls) this.add(url).onload = () => { if (++this.loadCount === scriptUrls.length) this.ready() }
    window.addEventListener('load', () => { this.isLoaded = true })
  }
  add(url) {
    const script = document.createElement('script')
    script.type = 'text/javascript'; script.src = url; script.async = false; script.defer = true; script._url = url
    document.body.appendChild(script)
    return script
  }
  ready() {
    PluginManager.setup($plugins, this)
    effekseer.initRuntime('js/libs/effekseer.wasm', () => DataManager.start(), (error) => console.warn(error))
  }
}
const main = new Main()
main.run()`,
      'dist/js/rmmz_core.js': `const PluginManager = { done: [], setup(plugins, main) { for (const { name, status } of plugins) if (status) main.add('js/plugins/' + encodeURIComponent(name) + '.js') } }
const load = (url, type) => new Promise((done, fail) => {
  const xhr = new XMLHttpRequest()
  xhr.open('GET', url)
  if (type === 'json') xhr.overrideMimeType('application/json'); else xhr.responseType = type
  xhr.onload = () => done(type === 'json' ? JSON.parse(xhr.responseText) : xhr.response)
  xhr.onerror = fail
  xhr.send()
})
const DataManager = { async start() {
  const system = await load('data/System.json', 'json')
  const title = new Image(); title.src = 'img/titles1/' + encodeURIComponent(system.title1Name) + '.png'; await title.decode()
  // An encrypted picture: a header, and bytes of which the first 16 are changed by a key.
  const bytes = new Uint8Array((await load('img/pictures/Crab.png_', 'arraybuffer')).slice(16))
  for (let at = 0; at < 16; at += 1) bytes[at] ^= 7
  const crab = new Image(); crab.src = URL.createObjectURL(new Blob([bytes], { type: 'image/png' })); await crab.decode()
  const texture = PIXI.Texture.from('img/titles1/Shore%20at%20night.png')
  if (!texture.valid) await new Promise((done) => texture.once('update', done))
  const font = new FontFace('rmmz-mainfont', 'url("fonts/mplus-1m-regular.woff")')
  document.fonts.add(await font.load())
  const sound = await new (window.OfflineAudioContext)(1, 8, 8000).decodeAudioData(await (await fetch('audio/se/Cursor1.wav')).arrayBuffer())
  await localforage.setItem('rmmzsave.1.file0', pako.deflate(JSON.stringify({ gold: 5 })))
  const { gold } = JSON.parse(pako.inflate(await localforage.getItem('rmmzsave.1.file0'), { to: 'string' }))
  ${send("system.n, title.naturalWidth, crab.naturalWidth, texture.width, document.fonts.check('16px rmmz-mainfont'), sound.length > 0, gold, effekseer.add(2, 3), PluginManager.done[0]")}
} }`,
      'dist/audio/se/Cursor1.wav': wav,
      'dist/css/game.css': 'body { background: #000 }',
      'dist/index.html': page(
        '<meta name="apple-mobile-web-app-capable" content="yes"><link rel="icon" href="icon/icon.png"><link rel="stylesheet" href="css/game.css">',
        '<script type="text/javascript" src="js/main.js"></script>',
      ),
      'build.mjs': `import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
const libraries = { 'pixi.js/dist/pixi.min.js': 'pixi.js', 'pako/dist/pako.min.js': 'pako.min.js', 'localforage/dist/localforage.min.js': 'localforage.min.js' }
for (const [from, to] of Object.entries(libraries)) cpSync('node_modules/' + from, 'dist/js/libs/' + to)
cpSync('node_modules/@fontsource/m-plus-1p/files/m-plus-1p-latin-400-normal.woff', 'dist/fonts/mplus-1m-regular.woff')
const picture = readFileSync('dist/img/titles1/Shore at night.png')
for (let at = 0; at < 16; at += 1) picture[at] ^= 7
mkdirSync('dist/img/pictures', { recursive: true })
writeFileSync('dist/img/pictures/Crab.png_', Buffer.concat([Buffer.from('RPGMV'), Buffer.alloc(11), picture]))`,
    },
    command: 'node build.mjs',
    out: 'dist',
  },
}
