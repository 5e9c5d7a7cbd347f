/** Sample data: a dozen apps of four makers with icons, remixes, reviews and opens. */
import { asRecord, type BerthServer } from '../bench/load/served.ts'

export interface SampleData {
  /** An app that was remixed, the handle of its maker, and the remix. */
  id: string
  handle: string
  remixed: string
}

const makers: Record<string, string> = {
  'brass-otter': 'Small games about weather, boats and patience.',
  'quiet-loom': 'Tools for people who write.',
  marlow: 'I make one thing a week.',
  'tin-lantern': '',
}

/** Maker, kind, shelf, title, description, and whether the app has an icon. */
const apps: [string, string, string, string, string, boolean][] = [
  [
    'brass-otter',
    'game',
    'arcade',
    'Harbour Lights',
    'Bring eleven boats home before the fog closes the harbour. One finger is enough.',
    true,
  ],
  [
    'brass-otter',
    'game',
    'puzzle',
    'Tide Table',
    'Slide the hours until sea and moon agree.',
    true,
  ],
  [
    'brass-otter',
    'game',
    'adventure',
    'The Long Ferry',
    'A crossing in forty choices. Bring a coat.',
    false,
  ],
  [
    'quiet-loom',
    'app',
    'writing',
    'Plain Words',
    'Paste a text; it marks what a reader has to read twice.',
    true,
  ],
  [
    'quiet-loom',
    'app',
    'tools',
    'Unit Drawer',
    'Every conversion I keep looking up, in one drawer, without a network.',
    false,
  ],
  ['quiet-loom', 'app', 'data', 'Row by Row', 'Drop a CSV, see its shape.', false],
  ['marlow', 'app', 'music', 'Four Strings', 'A tuner and a metronome for a ukulele.', true],
  [
    'marlow',
    'app',
    'art',
    'Riso',
    'Two inks and a grain. Makes a poster of anything you draw.',
    true,
  ],
  [
    'marlow',
    'game',
    'sim',
    'Night Bus',
    'Run one bus line through a sleeping town, from the first stop to the last, for as long as the diesel and your patience hold out',
    false,
  ],
  ['marlow', 'app', 'learn', 'Star Names', 'Forty stars, one a day.', false],
  ['tin-lantern', 'app', 'social', 'Table for Six', 'Who sits beside whom.', false],
  ['tin-lantern', 'app', 'other', 'Boat Names', 'Hm.', true],
]

const text = (value: unknown, name: string): string => String(asRecord(value)[name])

export async function createSampleData(ctx: BerthServer): Promise<SampleData> {
  const keys = new Map<string, string>()
  for (const [handle, about] of Object.entries(makers)) {
    const { key } = await ctx.call('POST', '/keys', { handle, ...(about && { about }) })
    keys.set(handle, String(key))
  }
  const ids: string[] = []
  for (const [maker, kind, shelf, title, description, isPictured] of apps) {
    const html = `<!doctype html><title>${title}</title><h1>${title}</h1><p>${description}</p>`
    const about = { kind, shelf, title, description, store: true }
    const { app } = await ctx.call('POST', '/apps', { html, ...about }, keys.get(maker))
    const id = text(app, 'id')
    ids.push(id)
    if (isPictured) await ctx.call('PUT', `/apps/${id}/icon`, { make: true }, keys.get(maker))
    for (let opens = ids.length % 4; opens > 0; opens -= 1) {
      await fetch(`http://127.0.0.${opens}:${ctx.port}/a/${id}/data`).catch(() => undefined)
    }
  }
  const [first = '', second = ''] = ids
  const price = { remix: 'price', priceRemix: 40 }
  await ctx.call('PATCH', `/apps/${second}`, price, keys.get('brass-otter'))
  const remixed = await remix(ctx, first, keys.get('marlow'), 'Harbour Lights, in winter')
  const again = await remix(ctx, remixed, keys.get('tin-lantern'), 'Fog')
  const html = '<!doctype html><title>Harbour Lights</title><h1>Harbour Lights, mended</h1>'
  const version = { html, note: 'The fog is slower.' }
  await ctx.call('POST', `/apps/${first}/versions`, version, keys.get('brass-otter'))
  const review = { stars: 4, text: 'Calm, and harder than it looks.' }
  await ctx.call('PUT', `/explore/${first}/review`, review, keys.get('marlow'))
  const comment = { text: 'Does the fog ever lift?' }
  await ctx.call('POST', `/explore/${first}/comments`, comment, keys.get('quiet-loom'))
  return { id: first, handle: 'brass-otter', remixed: again }
}

async function remix(
  ctx: BerthServer,
  id: string,
  key: string | undefined,
  title: string,
): Promise<string> {
  const { app } = await ctx.call('POST', `/apps/${id}/remix`, {}, key)
  const copy = text(app, 'id')
  await ctx.call('PATCH', `/apps/${copy}`, { title, store: true }, key)
  return copy
}
