/** Thirty items of six makers that look like real ones, for screenshots and measurements. */
import * as games from './pages/games.ts'
import * as tools from './pages/tools.ts'

export interface SampleItem {
  maker: string
  kind: 'app' | 'game'
  shelf: string
  title: string
  description: string
  html: string
}

export const makers: Record<string, string> = {
  'brass-otter': 'Small games about weather, boats and patience.',
  'quiet-loom': 'Tools for people who write.',
  marlow: 'I make one thing a week.',
  'tin-lantern': '',
  'noor-studio': 'Games and pictures, in Arabic and English.',
  pixelgrove: 'Arcade games, one button where possible.',
}

/** Maker, kind, shelf, title, scene, three colors and description of each item. */
const rows = `
brass-otter|game|arcade|Harbor Lights|city|#1d2b64|#f8a26b|#ffd166|Bring eleven boats home before the fog closes the harbor. One finger is enough.
brass-otter|game|puzzle|Tide Table|board|#e8dcc8|#2a6f97|#61a5c2|Slide the hours until sea and moon agree.
brass-otter|game|adventure|The Long Ferry|runner|#274060|#7fb7be|#f4d35e|A crossing in forty choices. Bring a coat.
quiet-loom|app|writing|Plain Words|editor|#f4efe6|#8c5e2a|#fbe3a8|Paste a text; it marks what a reader has to read twice.
quiet-loom|app|tools|Tip Split|calculator|#eef3f1|#0f766e|#99d5c9|Every bill, every table, no arguments.
quiet-loom|app|data|Row by Row|dashboard|#eef1f8|#4f63d2|#9fb0ff|Drop a CSV, see its shape.
marlow|app|music|Sixteen Steps|sequencer|#17171f|#ff7a59|#7ce0c3|A drum machine with six voices and swing.
marlow|app|art|Riso|generative|#f6efe2|#ff5a5f|#00798c|Two inks and a grain. Makes a poster of anything you draw.
marlow|game|sim|Night Bus|city|#0b1026|#4b3f72|#ffe066|Run one bus line through a sleeping town, from the first stop to the last, for as long as the diesel and your patience hold out
marlow|app|learn|Star Names|clock|#0d1b3e|#4056a1|#f2c14e|Forty stars, one a day.
tin-lantern|app|social|Table for Six|cards|#f5f0fa|#7b4fb5|#e0a6ff|Who sits beside whom.
tin-lantern|app|other|Boat Names|generative|#10333f|#3fb8af|#ff9e9d|Hm.
pixelgrove|game|arcade|Neon Swarm|shooter|#0a0618|#ff3cac|#2bd2ff|Forty invaders, three lives, one very loud ship.
pixelgrove|game|arcade|Fox & Coins|runner|#5b3a8e|#f08a5d|#ffd23f|Jump with space. The fox does the rest.
pixelgrove|game|puzzle|Stack Overtime|blocks|#20123a|#4cc9f0|#f72585|Lines fall, lines clear, the clock does not stop.
pixelgrove|game|arcade|Ghost Shift|maze|#080b24|#2f4bff|#ff9f1c|Eat every dot before the lights come on.
pixelgrove|game|arcade|Ember Run|runner|#3a0f0f|#e4572e|#ffe8a3|The forest burns behind you.
pixelgrove|game|puzzle|Twelve Tiles|board|#f7e6d4|#d1495b|#edae49|Merge until nothing moves.
pixelgrove|game|arcade|Comet Post|shooter|#06202a|#7bf1a8|#f9f871|Deliver letters between asteroids.
pixelgrove|game|puzzle|Brick Weather|blocks|#12343b|#e1b382|#c89666|Blocks fall in the shape of clouds.
noor-studio|game|adventure|مدينة الفوانيس|city|#2d1e2f|#c8553d|#ffd5c2|لعبة هادئة عن مدينة تضيئها الفوانيس.
noor-studio|app|art|Tessera|generative|#fef6e4|#8bd3dd|#f582ae|Mosaics that never repeat.
noor-studio|game|puzzle|Labyrinth at Low Tide|maze|#06262b|#17727a|#ffb4a2|The walls move twice a day.
noor-studio|app|tools|Focus Dial|clock|#23395b|#8e5572|#f2f7a1|A timer you turn with the mouse wheel, for work that needs forty quiet minutes and a bell that does not startle the cat
quiet-loom|app|writing|First Lines|editor|#eaf0ee|#2f6d5e|#cfe8b8|Opens a story. You close it.
quiet-loom|app|data|Sleep Diary|dashboard|#f6eef4|#9c3d74|#e5a4cb|Nights as bars, months as landscapes.
quiet-loom|app|tools|Three Columns|cards|#edf4ee|#2d7d46|#f0b429|A board for one person.
marlow|app|music|Rain Kit|sequencer|#17171f|#5aa9e6|#ffe45e|Drums made of weather.
marlow|app|learn|Interest, Explained|calculator|#f2f0fb|#5a3fc0|#b9a7ff|See what compound means by dragging one dot.
tin-lantern|game|arcade|Moth|shooter|#1b1200|#ffb627|#c4a69d|Toward the light, not into it.
`

const scenes: Record<string, (title: string, palette: games.Palette) => string> = {
  ...games,
  ...tools,
}

export const items: SampleItem[] = rows
  .trim()
  .split('\n')
  .map((row) => {
    const [maker = '', kind, shelf = '', title = '', scene = '', ...rest] = row.split('|')
    const [ground = '', main = '', second = '', description = ''] = rest
    const html = scenes[scene]?.(title, [ground, main, second]) ?? ''
    return { maker, kind: kind === 'game' ? 'game' : 'app', shelf, title, description, html }
  })
