/** Things that the sprite generator draws (src/generators/images/figures.svg). */
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
export function findEmoji(thing: string): string | undefined {
  const words = thing.split(' ')
  const names = [thing, words.slice(-2).join(' '), words.at(-1) ?? '']
  const found = names.flatMap((name) => emoji.get(name) ?? emoji.get(singular(name)) ?? [])[0]
  return found ?? undefined
}

/** Returns whether a game can show a thing. */
export const canShow = (thing: string): boolean =>
  findEmoji(thing) !== undefined ||
  thing
    .split(' ')
    .some((word) => drawnThings.includes(word) || drawnThings.includes(singular(word)))
