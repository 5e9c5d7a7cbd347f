import { descriptionCharsMax, titleCharsMax } from '../../kernel/limits.ts'
import { recordOf } from '../../kernel/schema.ts'
import { isPlainLine, isPlainText } from '../../kernel/text.ts'
import type { App } from '../apps.ts'
import { type AppKind, type Shelf, shelfNames } from '../kinds.ts'
import { defaultText } from '../publish.ts'

export interface Plan {
  title: string
  description: string
  shelf: Shelf
  plan: string
}

const planCharsMax = 6_000

/** Parses the plan in a model's response. Invalid fields are filled from the prompt. */
export function parsePlan(text: string, prompt: string): Plan {
  const parsed = firstRecord(text)
  const { title, description, plan } = parsed
  const line = prompt.replaceAll(/\s+/g, ' ').trim()
  return {
    title: typeof title === 'string' && isPlainLine(title, titleCharsMax) ? title : toTitle(line),
    description:
      typeof description === 'string' && isPlainText(description, descriptionCharsMax)
        ? description
        : '',
    shelf: shelfNames.find((name) => name === parsed['shelf']) ?? defaultText.shelf,
    plan: (typeof plan === 'string' ? plan : JSON.stringify(plan ?? line)).slice(0, planCharsMax),
  }
}

const toTitle = (line: string): string =>
  line.length <= 60 ? line || defaultText.title : `${line.slice(0, 59).trimEnd()}…`

/** Returns the first JSON object of a text; an empty object when there is none. */
function firstRecord(text: string): Record<string, unknown> {
  const [from, end] = [text.indexOf('{'), text.lastIndexOf('}')]
  try {
    return recordOf(JSON.parse(text.slice(from, end + 1)))
  } catch {
    return {}
  }
}

export const plannedTexts = (app: App, { title, description, shelf }: Omit<Plan, 'plan'>) => ({
  ...(app.title === defaultText.title && { title }),
  ...(app.description === defaultText.description && { description }),
  ...(app.shelf === defaultText.shelf && { shelf }),
})

/** Rules of the sandbox in which pages run (docs/spec/sandbox.md). */
const sandbox = `Your answer is ONE complete HTML page and nothing else, in one \`\`\`html block.
The page runs in a sandbox that reaches no network. So:
- Your own CSS and JavaScript are inside the page. No fetch, WebSocket, iframes, forms that are sent, or links to other sites.
- Prefer no library. Where one helps much, load it by its URL on cdn.jsdelivr.net with one of these versions, and nothing else from outside: three@0.180.0 (module, with examples/jsm by import map), three@0.128.0/build/three.min.js, phaser@3.90.0, p5@1.11.10, matter-js@0.20.0, cannon-es@0.20.0, chart.js@4, d3@7, react@18.3.1 and react-dom@18.3.1 (umd), vue@3, gsap@3, tone@14, howler@2, marked@15, dompurify@3, katex, leaflet@1.9.4; fonts of fonts.googleapis.com such as Inter, Poppins, Playfair Display, Press Start 2P.
- Pictures and sounds are drawn in code (canvas, SVG, CSS, Web Audio), or are asked for in one list in the page:
  <script type="application/json" data-assets>[{"name":"hero.png","kind":"sprite","what":"a red spaceship","width":128,"height":128}]</script>
  kinds: sprite (one thing on transparent ground), picture (a background), sound (an effect), voice ("what" is the words), music. Names are a-z, 0-9, dot, - and _. At most 8 of them, fewer is better.
  They are used after \`await service.assets.ready\`: \`await service.assets.image("hero.png")\` and \`.audio("name")\` give an element or null; \`.url(name)\` gives an address or "". Always draw a stand-in where the answer is null.
- localStorage (1 MB) and IndexedDB (5 MB) work and are kept for each visitor. alert, confirm, cookies and popups do not: draw your own dialogs.
- Only where the request needs it, a page can use \`service\`, which needs no key and no import. Every call is a promise; an error has \`code\` and a \`message\` to show.
  - Models: \`const { text, json, toolCalls } = await service.ai.chat(messages, { tier: "quick", json: schema, maxTokens, onText: (delta, all) => {} })\`; messages are \`[{ role: "system" | "user" | "assistant", content }]\`. The player agrees and pays, so call it after a press, show that it thinks, and go on without it where it throws. \`service.ai.image(prompt)\` and \`.speech(text)\` give \`{ url }\`. A character that talks sends its rules, what it remembers and the last turns with each call.
  - Memory: \`await service.store.get(key)\` (null at first), \`.set(key, value)\`, \`.delete(key)\`, \`.list(prefix)\` keep JSON of one player. A page that remembers a player loads it before the first call of a model, puts it into the system message, and saves it after each turn.
  - All players, live: \`const games = service.db.collection("games")\` with \`add\`, \`where(field, "==", value)\`, \`orderBy\`, \`limit\`, \`get\` and \`onSnapshot(({ docs }) => {})\`; \`service.db.doc("games/1")\` with \`get\`, \`set\`, \`update\`, \`delete\`, \`onSnapshot\`; \`doc.id\`, \`doc.data()\`. \`const room = await service.room.join("lobby")\` with \`emit(topic, data)\`, \`on(topic, (data, from) => {})\`, \`presence(data)\`, \`onPeers(({ peers }) => {})\`.
  - Phones as controllers of a large screen: \`const phones = await service.room.controller({ buttons: ["Jump"], stick: true })\`, \`phones.on("join" | "leave" | "input", ({ player, pressed, buttons, stick }) => {})\`.
  - Boards: \`await service.scores.submit(points)\`, \`.top()\`, \`.show()\`. \`await service.seed\` is a number for the random parts of a game, and \`service.scores.challenge()\` sends a friend the same game with the score to beat, which \`await service.challenge\` has there (or null).
- Where players would enjoy to turn a value (speed, size, difficulty, a color), declare it in the head, two to five of them: <meta name="berth:knob" content="name=speed; label=Speed; type=range; min=1; max=10; step=1; value=4">, or type=color; value=#rrggbb, type=choice; options=easy|hard, type=switch; value=on. Read it in each frame: \`service.knobs.get("speed")\`; in styles: var(--knob-speed, 4).
- The page works with keyboard, mouse and touch, from 360 pixels wide to a large screen, fits the window and follows its resizing, in light and dark.
- It stops its timers, frames and sounds while document.hidden. Sound begins with the first press.
- No error may reach the console. Text is readable, contrast is good, buttons are at least 44 pixels.`

const kinds = {
  app: `You build small web apps that people keep: one clear purpose, beautiful type and spacing, real empty states, undo where something could be lost, what the visitor enters kept in localStorage.`,
  game: `You build small games that people play twice: a title screen that says how to play, keys AND touch, a goal within seconds, rising difficulty, feedback on every action (motion, particles, sound), score and best score in localStorage, pause with P and when hidden, and a way to play again without reloading.`,
} as const

export const planPrompt = (kind: AppKind): string =>
  `${kinds[kind]}
Plan what is asked for. The page can call models, remember each player, share data among all players live, and have boards of scores: plan that only where the request needs it. Answer ONE JSON object and nothing else:
{"title": "at most 60 characters", "description": "one sentence, at most 200 characters", "shelf": "arcade|puzzle|adventure|sim|tools|learn|art|music|data|writing|social|other", "plan": "at most 12 short lines: screens, rules or data, controls, look"}`

export const pagePrompt = (kind: AppKind): string => `${kinds[kind]}\n${sandbox}`

export const changePrompt = (kind: AppKind): string =>
  `${pagePrompt(kind)}
You are given a page that exists and what is to change. Change only what was asked for: every other line stays as it is, to the letter. Answer the whole page.`

export const repairPrompt = (errors: string[]): string =>
  `The page was checked and did not pass:\n${errors.map((error) => `- ${error}`).join('\n')}\n` +
  'Fix exactly these errors and return the whole page again, in one ```html block.'
