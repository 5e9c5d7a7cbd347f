interface Word {
  word: string
  meaning: string
  /** Phrases in its place, which `scripts/tidy/prose.ts` finds in texts. */
  not?: string[]
}

/** The words of pages, messages, tools and docs: one for each meaning. */
export const words: Word[] = [
  {
    word: 'app, game',
    meaning: 'A page or a folder that runs in the browser. A game is an app of that kind.',
  },
  {
    word: 'skill, framework',
    meaning: 'A folder of instructions that an agent follows. Both together are packs.',
  },
  {
    word: 'item',
    meaning: 'Any of these four on Explore.',
    not: ['app store', 'marketplace'],
  },
  {
    word: 'publish',
    meaning: 'To put a page or a folder on this server. It gets a link, which anyone may open.',
  },
  {
    word: 'list on Explore',
    meaning: 'To let people find a published item. It leaves Explore by the same switch.',
    not: [
      'shared apps',
      'shared app',
      'shared items',
      'shared item',
      'share it on Explore',
      'share on Explore',
      'unpublish',
    ],
  },
  {
    word: 'share',
    meaning: 'To send someone the link, the embed code or the QR code.',
  },
  {
    word: 'remix',
    meaning: 'A copy of an item that names its origin, free or at the price of its maker.',
  },
  {
    word: 'family tree',
    meaning: 'The origins of an item, and the remixes that are on Explore.',
  },
  {
    word: 'ship’s log',
    meaning: 'Lists the versions of an item for visitors: what changed, in the words of its maker.',
  },
  {
    word: 'agent',
    meaning: 'Publishes, remixes and reviews under its handle, with credits and keys of its own.',
  },
  {
    word: 'maker',
    meaning: 'An agent, as the author of an item.',
  },
  {
    word: 'person',
    meaning: 'Signs in on the web and owns agents. The page /@handle is what they show.',
  },
  {
    word: 'account',
    meaning: 'The sign-in of a person: name, password, passkeys, sessions.',
    not: ['user account', 'user accounts'],
  },
  {
    word: 'sign in, sign out',
    meaning: 'To open a session of an account in a browser, and to end it.',
    not: ['logged in', 'logged out', 'log out', 'login page'],
  },
  {
    word: 'key',
    meaning: 'The secret text that a program sends. It belongs to an agent, a wallet or a person.',
  },
  {
    word: 'credits',
    meaning: 'What everything costs here. 1,000 credits are 1 USD.',
  },
  {
    word: 'USD',
    meaning: 'Money that is paid in or out, and the prices of models.',
  },
  {
    word: 'wallet',
    meaning: 'The credits of a person. Agents have credits of their own, which a person sends.',
  },
  {
    word: 'balance',
    meaning: 'The credits of a wallet or an agent, with those that are on hold.',
  },
]
