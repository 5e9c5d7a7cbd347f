import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { filesOf, type Folder } from './folder.ts'
import { middle } from './pages.ts'

/** Reads a folder that `scripts/folder-builds.ts` built with a real tool. */
const build = async (
  file: string,
  says: unknown[],
  more: Partial<Folder> = {},
): Promise<Folder> => ({
  name: `a build of ${file}`,
  files: await filesOf(await Bun.file(zipOf(file, more.isLarge)).bytes()),
  says,
  ...more,
})

/** A large one is there once it is built. */
const zipOf = (file: string, isLarge = false): string =>
  join(import.meta.dir, isLarge ? '../../../dist/folder-builds' : 'builds', `${file}.zip`)
const noWebgl = 'the tests start it without a GPU, so it has no WebGL'
const noFrames = 'a page in the fallback has no frames'
const largeBuilds: [file: string, says: unknown[], more?: Partial<Folder>][] = [
  ['pyodide', [[7, 'reef']], { except: { webkit: 'it does not start in 150 seconds' } }],
  ['ruffle', [[100, 100, 12]]],
  // They draw with WebGL alone.
  ['scratch', [['7', 20]], { except: { chromium: noWebgl, firefox: noWebgl } }],
  ['love', [['7', '2']], { except: { chromium: noWebgl, firefox: noWebgl } }],
  [
    'storybook',
    [['story', 'red', '/iframe.html', true]],
    { except: { firefox: noFrames, webkit: noFrames } },
  ],
  ['godot', [['function', true]], { except: { chromium: noWebgl, firefox: noWebgl } }],
]
const builtLarge = largeBuilds.filter(([file]) => existsSync(zipOf(file, true)))

const vite = ['styled', 2, 7, 5, 3, 2, 2, true, 9]
const green = 'rgb(0, 128, 0)'
const click = { act: [{ after: 1, run: middle }] }

/** Folders as tools build them. */
export const builtFolders: Folder[] = await Promise.all([
  build('vite-root', [vite]),
  build('vite-relative', [vite]),
  build('vite-svelte', [['styled', '2', '2', green]]),
  build('vite-vue', [['styled', '2', 'rgb(0, 0, 255)', green]]),
  build(
    'vite-react',
    [
      ['styled', 2, '1'],
      ['about', 'About'],
    ],
    click,
  ),
  build('three-ktx2', [[4, 4, 64]]),
  build('playcanvas', [[7, 2, 'triangle']]),
  // It draws with WebGL alone.
  build('kaboom', [[2, 7]], { except: { chromium: noWebgl, firefox: noWebgl } }),
  build('vite-legacy', [['styled', 2, 2]]),
  build('twine', [['Reef', 'Reef', 2]]),
  build('notebook', [['Reef', '7', 2, 'table']]),
  build('webpack', [['styled', 2, 7, 3, 2]]),
  build('esbuild', [['styled', 2, 7, 2]]),
  build('rollup', [[2, true]]),
  build(
    'sveltekit',
    [
      ['styled', 1, 2, 2],
      ['about', 'About'],
    ],
    click,
  ),
  build(
    'next',
    [
      ['styled', 2, 2, '1'],
      ['about', 'About'],
    ],
    click,
  ),
  build(
    'nuxt',
    [
      ['styled', 2, '1'],
      ['about', 'About'],
    ],
    click,
  ),
  build('reveal', [['styled', 2, 1]]),
  build('three', [['triangle', 3, 2, 2, 3]]),
  build('babylon', [[2, 'triangle', 3]]),
  build('pixi', [[2, 1]]),
  build('phaser', [[2, 7, 3, true]]),
  build('p5', [[2, 7, 2, 255]]),
  build('littlejs', [[2, 1]]),
  build('excalibur', [[2, true]]),
  build('micropython', [[7]]),
  build('parcel', [['styled', 2, 7, 3, 2]]),
  build(
    'astro',
    [
      ['styled', 2, 2],
      ['about', 2, 'About'],
    ],
    click,
  ),
  build(
    'eleventy',
    [
      ['styled', 'Home'],
      ['styled', 'About'],
    ],
    click,
  ),
  build(
    'angular',
    [
      ['styled', '1', green, 2, 7],
      ['about', 'About'],
    ],
    click,
  ),
  build('gdevelop', [['Scene', 2]]),
  build('jsdos', [[640, 400]]),
  build('emscripten', [[7, 1, 40]]),
  build(
    'vitepress',
    [
      ['home', 'Reef | Site', '/', '/', 2, 'a'],
      ['about', 'About | Site', '/about.html', '/about.html', '#team', 'About'],
    ],
    click,
  ),
  build(
    'vitepress-path',
    [
      ['home', 'Reef | Site', '/repo/', '/repo/', 2, 'a'],
      ['about', 'About | Site', '/repo/about.html', '/repo/about.html', '#team', 'About'],
    ],
    click,
  ),
  build(
    'vue-router-path',
    [
      ['styled', 'home', 'Build', '/repo/', '/repo/', 2, 9],
      ['about', 'Build', '/repo/about', '/repo/about', '/about?x=1#team', '?x=1', '#team'],
    ],
    click,
  ),
  build(
    'tanstack',
    [
      ['home', 'Build', '/repo/', '/repo/'],
      ['about', 'Build', '/repo/about', '/repo/about', '/about?x=1'],
    ],
    click,
  ),
  build(
    'docusaurus',
    [
      ['home', 'Reef | Site', '/repo/', '/repo/', ''],
      ['about', 'About | Site', '/repo/more/about', '/repo/more/about', '#team'],
    ],
    click,
  ),
  build(
    'docsify',
    [
      ['Site', 'Build', '/', '#/', 2],
      ['Site', 'Team', '/', '#/more/about?id=team', 2],
    ],
    click,
  ),
  build(
    'mkdocs',
    [
      ['Reef', 'Reef', '/'],
      ['About', 'About - Reef', '/about/'],
    ],
    click,
  ),
  build(
    'astro-transitions',
    [
      ['Home', '/', 1],
      ['About', '/docs/about/', 2],
    ],
    { ...click, except: { webkit: 'WebKitGTK 2.50 crashes at any view transition in a frame' } },
  ),
  build(
    'hugo',
    [
      ['Home', '/', '', 2],
      ['About', '/about/', '#team', 2],
    ],
    click,
  ),
  build(
    'jekyll',
    [
      ['Home | Reef', '/repo/', '', 2],
      ['About | Reef', '/repo/about/', '#team', 2],
    ],
    click,
  ),
  build(
    'mdbook',
    [
      ['Home - Reef', '/', '', 2, 2, '1'],
      ['About - Reef', '/more/about.html', '#team', 2, 3, '1'],
    ],
    click,
  ),
  build(
    'vuepress',
    [
      ['Home | Site', '/repo/', '', 2],
      ['About | Site', '/repo/more/about.html', '#team', 2],
    ],
    click,
  ),
  build(
    'sphinx',
    [
      ['/', '', '', '', '1'],
      ['/search.html', '?q=coral', 'About', '', '1'],
    ],
    click,
  ),
  build('bevy', [[7, 320, true]]),
  build('godot-like', [[7, 1, true, true]]),
  build('renpy-like', [[77, 1, 2]]),
  build('pico8-like', ['ready', [8, 1, 255, true]], click),
  build('rpgmaker-like', [[7, 2, 2, 2, true, true, 5, 5, 'js/plugins/Steps.js']]),
  build(
    'bitsy-like',
    [
      ['Reef Walk', 1, '</p> a < b && "c"', 'FONT ascii_small', 255],
      ['Enter', true],
    ],
    { act: [{ after: 1, run: (tab) => tab.press('Enter') }] },
  ),
  build('quarto-like', [['Reef', 'Corals', 'Corals', 0, 'none', 2, true]]),
  build('wget', [['styled', 'Reef', 2]]),
  build('claude', [['styled', 'Reef']]),
  build('chatgpt', [['styled', 'Reef – Spiel', 2]]),
  ...builtLarge.map(([file, says, more]) => build(file, says, { ...more, isLarge: true })),
])
