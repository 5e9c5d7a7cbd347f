import type { Content } from './contents.ts'

/** Things that the sprite generator draws (src/apps/generators/images/figures.svg). */
export const drawnThings =
  'cat kitten kitty tiger lynx fox wolf coyote dog puppy bear penguin rabbit bunny hare turtle tortoise basket bucket bird chick duck crow owl eagle parrot flamingo fish shark whale dolphin salmon tuna ghost spirit phantom spook slime blob jelly goo bee bug beetle ladybug butterfly insect wasp fly moth snake worm serpent caterpillar spider crab octopus squid robot android droid mech cyborg skull skeleton bone zombie undead dragon dino dinosaur lizard frog monster alien goblin troll demon beast creature enemy boss player hero knight wizard ninja pirate captain king queen princess prince person boy girl man woman child villager astronaut chef farmer elf soldier character people face spaceship starship rocket shuttle fighter spacecraft ufo saucer boat ship sailboat raft yacht harbour harbor car truck taxi bus van racer tank train plane airplane jet helicopter drone aircraft glider home hut castle tower shop building barn lighthouse temple sword blade dagger knife katana shield armor armour bullet laser fireball missile arrow projectile beam bolt plasma bomb mine grenade explosive key chest box crate treasure barrel gift present paddle platform brick block tile wall potion bottle flask elixir medicine clock watch timer alarm book note scroll page list todo journal diary card music song piano guitar drum melody sound coin gold money token credit medal gem diamond crystal jewel ruby emerald sapphire amethyst heart life health love star powerup bonus sparkle sun sunny moon crescent planet earth world globe mars saturn asteroid rock stone boulder meteor comet cloud fog smoke rain storm fire flame torch campfire explosion lava flower rose daisy tulip blossom plant garden tree oak pine forest bush palm cactus apple cherry orange lemon peach tomato fruit grape banana pumpkin strawberry strawberries berry berries raspberry raspberries mushroom toadstool cake pizza burger food bread cookie candy donut snack ball bubble orb marble balloon dot'.split(
    ' ',
  )

/** Emoji for things that the sprite generator does not draw. */
const emoji = new Map(
  `acorn 🌰|avocado 🥑|axolotl 🦎|bat 🦇|bear 🐻|beaver 🦫|bone 🦴|bread 🍞|broccoli 🥦|bubble tea 🧋|camel 🐫|carrot 🥕|cheese 🧀|chicken 🐔|chocolate 🍫|coconut 🥥|coffee ☕|corn 🌽|cow 🐄|croissant 🥐|crocodile 🐊|cupcake 🧁|deer 🦌|dolphin 🐬|egg 🥚|elephant 🐘|flamingo 🦩|football 🏈|giraffe 🦒|goat 🐐|gorilla 🦍|hamster 🐹|hedgehog 🦔|helicopter 🚁|hippo 🦛|honey 🍯|ice 🧊|iceberg 🧊|ice cube 🧊|horse 🐴|hot dog 🌭|kangaroo 🦘|koala 🐨|kiwi 🥝|leaf 🍃|leaves 🍃|lion 🦁|llama 🦙|lollipop 🍭|mole 🐭|monkey 🐒|mouse 🐭|mice 🐭|nut 🌰|onion 🧅|otter 🦦|panda 🐼|peacock 🦚|peanut 🥜|pear 🍐|pig 🐷|pineapple 🍍|popcorn 🍿|potato 🥔|pretzel 🥨|puddle 💧|raindrop 💧|rainbow 🌈|raccoon 🦝|sandwich 🥪|santa 🎅|seal 🦭|seed 🌰|sheep 🐑|skier ⛷️|ski ⛷️|shell 🐚|shrimp 🦐|sloth 🦥|snail 🐌|snowball ⚪|snowflake ❄️|snowman ⛄|sock 🧦|squirrel 🐿️|sushi 🍣|swan 🦢|taco 🌮|teapot 🫖|tornado 🌪️|trash 🗑️|tractor 🚜|umbrella ☂️|unicorn 🦄|watermelon 🍉|wave 🌊|witch 🧙|cactus 🌵|zebra 🦓`
    .split('|')
    .map((pair): [string, string] => {
      const at = pair.lastIndexOf(' ')
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
)

const singular = (words: string): string => {
  if (/ies$/.test(words)) return words.replace(/ies$/, 'y')
  return /(x|s|sh|ch)es$/.test(words) ? words.slice(0, -2) : words.replace(/([^s])s$/, '$1')
}

/** The emoji of a thing, such as "carrot" or "red carrots"; undefined for one that is drawn. */
function findEmoji(thing: string): string | undefined {
  const words = thing.split(' ')
  const names = [thing, words.slice(-2).join(' '), words.at(-1) ?? '']
  const found = names.flatMap((name) => emoji.get(name) ?? emoji.get(singular(name)) ?? [])[0]
  return found ?? undefined
}

const canShow = (thing: string): boolean =>
  findEmoji(thing) !== undefined ||
  thing
    .split(' ')
    .some((word) => drawnThings.includes(word) || drawnThings.includes(singular(word)))

/** The roles of a game with figures. */
interface Roles {
  hero: string
  good: string
  bad: string
}

/** Templates with figures, with the figures of a prompt that names none. */
const defaults = {
  collector: { hero: 'fox', good: 'coins', bad: 'rocks' },
  snake: { hero: 'snake', good: 'apples', bad: 'rocks' },
} as const satisfies Record<string, Roles>

type FigureGame = keyof typeof defaults

export const isFigureGame = (name: string): name is FigureGame => Object.hasOwn(defaults, name)

const stops =
  /^(and|while|to|that|which|from|with|in|on|as|by|or|before|at|for|of|the|a|an|but|who|is|are|it|them|falling|flying|through|past|until|game|games|over|between|into|you|they)$/
const filler = /^(?:(?:the|some|all|falling|flying|as many|many|more|a|an|incoming|enemy|evil) )+/

/** Returns the one or two plain words at the start of a text. */
function firstWords(text: string): string {
  const words =
    text
      .replace(filler, '')
      .match(/^[a-z-]{2,16}(?: [a-z-]{2,16})?(?: [a-z-]{2,16})?/)?.[0]
      .split(' ') ?? []
  return words.slice(0, words.findIndex((word) => stops.test(word)) >>> 0).join(' ')
}

const after = (text: string, verbs: RegExp): string => firstWords(text.split(verbs)[1] ?? '')

const verbs =
  'collect|catch|gather|eat|grab|dodg|avoid|pick|jump|run|fl(?:y|ies|ap)|shoot|escap|walk|search|look|hunt|chas|slid|swim|find|munch|stack'
const generic = /^(obstacles?|things?|stuff|objects?|items?|points?|blocks?|everything|walls?)$/
const subject = new RegExp(
  `\\b(?:an?|the|my|your|one|little|small|cute|hungry|help an?|help the) ((?:[a-z-]+ ){0,2}?[a-z-]+) (?:who |that |which |to |is |tries to |has to |must )*(?:${verbs})`,
)
const goodVerbs =
  /\b(?:collect|catch|gather|eat|grab|pick up|pick|munch|find|get|reach|search(?:es|ing)? for|look(?:s|ing)? for)(?:s|es|ing)? /
const badVerbs =
  /\b(?:dodg|avoid|escap|evad|flee|jump|shoot|blast|destroy|fight)(?:e|es|s|ing|ping|ed)?(?: from| over| down| at)? /

const notFigures =
  /^(i|you|player|we|game|user|person|one|app|space|arcade|simple|fun|small|little)$/

/** Finds who plays, what is wanted and what is dangerous. */
function findRoles(game: FigureGame, text: string): Partial<Roles> {
  const named = subject.exec(text)?.[1] ?? after(text, /\b(?:with|as|about|starring) (?:an? )?/)
  const words = named.replace(/^(?:game|games) (?:where|about|with|in which) /, '').split(' ')
  const hero = words.filter((word) => !stops.test(word) && !notFigures.test(word)).join(' ')
  const good = after(text, goodVerbs)
  const bad = after(text, badVerbs)
  return {
    ...(hero && game !== 'snake' && { hero }),
    ...(good && !generic.test(good) && { good }),
    ...(bad && !generic.test(bad) && { bad }),
  }
}

const places =
  /\b(space|sea|ocean|beach|reef|forest|jungle|desert|city|snow|winter|night|sunset|volcano|mountains|arctic)\b/

const leads: Record<FigureGame, (roles: Roles) => string> = {
  collector: ({ good, bad }) => `Catch the ${good}, dodge the ${bad}.`,
  snake: ({ good }) => `Eat the ${good} and grow.`,
}

const titles: Record<FigureGame, (roles: Roles) => string> = {
  collector: ({ hero, good }) => `The ${hero} and the ${good}`,
  snake: () => 'Snake',
}

/** Returns the content of a game with figures, or the figure that it cannot show. */
export function figureContent(game: FigureGame, text: string): Content | { missing: string } {
  const found = findRoles(game, text)
  const missing = Object.values(found).find((thing) => !canShow(thing))
  if (missing !== undefined) return { missing }
  const roles: Roles = { ...defaults[game], ...found }
  const marks = Object.fromEntries(
    Object.entries(roles).flatMap(([role, thing]) => {
      const mark = findEmoji(thing)
      return mark === undefined ? [] : [[role, mark]]
    }),
  )
  const place = places.exec(text)?.[0] ?? 'sunny hills'
  const lead = leads[game](roles)
  return { title: titles[game](roles), lead, words: { ...roles, place, marks } }
}
