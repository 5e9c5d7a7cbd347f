/** A page as a model writes it for another host. It posts what it found to the page around it. */
export interface HostPage {
  name: string
  html: string
  says: unknown[]
}

const page = (title: string, script: string): string => `<!doctype html><html lang="en"><head>
<meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1><script>
const say = (said) => top.postMessage({ said }, '*')
addEventListener('unhandledrejection', ({ reason }) => say('failed: ' + reason.message))
addEventListener('error', ({ message }) => say('failed: ' + message));
${script}
</script></body></html>`

/** Pages that keep and share data by the interfaces of other hosts. */
export const dataPages: HostPage[] = [
  {
    name: 'a Claude artifact that keeps a habit tracker',
    html: page(
      'Habits',
      `
async function load() {
  try {
    const stored = await window.storage.get('habits')
    return stored ? JSON.parse(stored.value) : []
  } catch { return 'first visit' }
}
(async () => {
  say(await load())
  const result = await window.storage.set('habits', JSON.stringify([{ name: 'Run', done: 3 }]))
  say([result.key, result.shared])
  say(await load())
  await window.storage.set('habits:old', 'x')
  say((await window.storage.list('habits')).keys)
  say((await window.storage.delete('habits:old')).deleted)
  try { await window.storage.set('two words', '1') } catch (error) { say(error.message.includes('key')) }
})()`,
    ),
    says: [
      'first visit',
      ['habits', false],
      [{ name: 'Run', done: 3 }],
      ['habits', 'habits:old'],
      true,
      true,
    ],
  },
  {
    name: 'a Claude artifact with a board that all share',
    html: page(
      'Scores',
      `
const SHARED = true;
(async () => {
  let board = { entries: [] }
  try { board = JSON.parse((await window.storage.get('leaderboard', true)).value) } catch (e) {}
  board.entries.push({ name: 'Ada', score: 40 })
  const saved = await window.storage.set('leaderboard', JSON.stringify(board), SHARED)
  say(saved.shared)
  const { value, shared } = await window.storage.get('leaderboard', SHARED)
  say([JSON.parse(value).entries.length, shared])
  say((await window.storage.list('', SHARED)).keys)
  say((await window.storage.list()).keys)
})()`,
    ),
    says: [true, [1, true], ['leaderboard'], []],
  },
  {
    name: 'a Claude Code page with documents and a room',
    html: page(
      'Votes',
      `
(async () => {
  const db = await claude.use('db')
  say(await claude.use('nothing'))
  const votes = db.collection('votes')
  let shown = 0
  const empty = Promise.withResolvers()
  const stop = votes.orderBy('count', 'desc').onSnapshot((found) => {
    shown += 1
    if (shown === 1) empty.resolve(found.empty)
    const first = found.docs[0]
    if (first && first.data().count === 3) { say([first.id, found.docChanges().length > 0]); stop(); rest() }
  })
  say(['empty', await empty.promise])
  await db.doc('votes/tea').set({ count: 2, by: { ann: true } })
  await db.doc('votes/tea').update({ count: 3, by: { ben: true } })
  async function rest() {
    const tea = await db.doc('votes/tea').get()
    say([tea.exists, tea.data().by])
    const lease = await db.doc('votes/tea').acquire({ holder: 'me', ttlMs: 2000 })
    say(lease.acquired)
    const user = await claude.use('user')
    say(typeof (await user.me()).id)
    const room = await claude.use('room')
    room.on('wave', ({ data, isMe }) => say([data, isMe]))
    room.onPeers(({ peers, joined }) => { if (joined.length) { say([peers.length, peers[0].sameTab]); room.emit('wave', 'hi') } })
  }
})()`,
    ),
    says: [
      null,
      ['empty', true],
      ['tea', true],
      [true, { ann: true, ben: true }],
      true,
      'string',
      [1, true],
      ['hi', true],
    ],
  },
  {
    name: 'a websim guest book',
    html: page(
      'Guest book',
      `
const room = new WebsimSocket()
say(Array.isArray(room.collection('entry').getList()))
let seen = 0
room.collection('entry').subscribe((entries) => {
  if (entries.length !== 2 || seen++) return
  say(entries.map((entry) => entry.text))
  say([typeof entries[0].username, Date.parse(entries[0].created_at) > 0])
  const list = room.collection('entry').filter({ text: 'first' })
  say(list.getList() === list.getList())
  finish(list.getList()[0].id)
});
(async () => {
  say((await room.collection('entry').getList()).length)
  await room.collection('entry').create({ text: 'first' })
  await room.collection('entry').create({ text: 'second' })
})()
async function finish(id) {
  const changed = await room.collection('entry').update(id, { likes: 1 })
  say([changed.text, changed.likes])
  await room.collection('entry').delete(id)
  say((await room.collection('entry').getList()).length)
}`,
    ),
    says: [true, 0, ['second', 'first'], ['string', true], true, ['first', 1], 1],
  },
  {
    name: 'a websim game with presence and state',
    html: page(
      'Arena',
      `
const room = new WebsimSocket();
(async () => {
  await room.initialize()
  say(typeof room.peers[room.clientId].username)
  room.subscribePresence((presence) => {
    const me = presence[room.clientId]
    if (me && me.x === 2 && me.health === 100 && !self.moved) { self.moved = true; say('moved'); room.updateRoomState({ items: { gem: { x: 1 } }, round: 1 }) }
  })
  room.subscribeRoomState((state) => {
    if (state.round === 1 && !self.began) { self.began = true; say(state.items); room.updateRoomState({ items: { gem: null } }) }
    else if (self.began && state.items && !state.items.gem && !self.gone) { self.gone = true; say('gone'); room.send({ type: 'boom', power: 3 }) }
  })
  room.subscribePresenceUpdateRequests((request) => say(request))
  room.onmessage = ({ data }) => {
    if (data.type !== 'boom') return
    say([data.power, data.clientId === room.clientId])
    room.requestPresenceUpdate(room.clientId, { type: 'damage', amount: 5 })
  }
  room.updatePresence({ x: 1, y: 1, health: 100 })
  room.updatePresence({ x: 2 })
})()`,
    ),
    says: ['string', 'moved', { gem: { x: 1 } }, 'gone', [3, true], { type: 'damage', amount: 5 }],
  },
  {
    name: 'a Puter page that counts visits',
    html: page(
      'Counter',
      `
(async () => {
  say(await puter.kv.get('visits'))
  say(await puter.kv.set('name', { first: 'Ada' }))
  say(await Promise.all([puter.kv.incr('visits'), puter.kv.incr('visits', 2)]))
  say(await puter.kv.decr('visits'))
  say(await puter.kv.get('name'))
  say(await puter.kv.list('v*', true))
  say(await puter.kv.del('visits'))
  say(await puter.kv.list())
})()`,
    ),
    says: [null, true, [1, 3], 2, { first: 'Ada' }, [{ key: 'visits', value: 2 }], true, ['name']],
  },
  {
    name: 'a GitHub Spark page with a list',
    html: page(
      'Todos',
      `
(async () => {
  say((await spark.kv.get('todos')) === undefined)
  await spark.kv.set('todos', [{ text: 'Milk', done: false }])
  say(await spark.kv.get('todos'))
  say(await spark.kv.keys())
  await spark.kv.delete('todos')
  say(await spark.kv.keys())
})()`,
    ),
    says: [true, [{ text: 'Milk', done: false }], ['todos'], []],
  },
  {
    name: 'a ChatGPT app with a state, outside of a chat',
    html: page(
      'Pizza map',
      `
const subscribe = (key, next) => addEventListener('openai:set_globals', ({ detail: { globals } }) => {
  if (key in globals) next(globals[key])
});
(async () => {
  const { toolOutput, widgetState, theme, locale } = window.openai
  say([toolOutput?.places ?? 'no places', widgetState, /^(light|dark)$/.test(theme), locale.length > 1])
  subscribe('widgetState', (state) => say(['told', state]))
  await window.openai.setWidgetState({ favorites: ['Roma'] })
  say(window.openai.widgetState)
  const found = await window.openai.callTool('find_pizza', { city: 'Rome' })
  say([found.isError, typeof found.result])
  await window.openai.sendFollowUpMessage({ prompt: 'Show more' })
  say(await window.openai.requestDisplayMode({ mode: 'pip' }))
  say((await service.store.get('openai:widgetState')).favorites)
})()`,
    ),
    says: [
      ['no places', null, true, true],
      ['told', { favorites: ['Roma'] }],
      { favorites: ['Roma'] },
      [true, 'string'],
      { mode: 'fullscreen' },
      ['Roma'],
    ],
  },
  {
    name: 'a Claude artifact with notes under keys of their own',
    html: page(
      'Notes',
      `
const keyOf = (id) => 'notes:' + id;
(async () => {
  try { await window.storage.get(keyOf(1)); say('found') } catch { say('none') }
  await Promise.all([1, 2, 3].map((id) => window.storage.set(keyOf(id), JSON.stringify({ id, text: 'Note ' + id }))))
  await window.storage.set('settings', JSON.stringify({ theme: 'dark' }))
  const { keys } = await window.storage.list('notes:')
  const notes = await Promise.all(keys.map(async (key) => JSON.parse((await window.storage.get(key)).value)))
  say(notes.map(({ text }) => text))
  await window.storage.delete(keyOf(2))
  say((await window.storage.list()).keys)
})()`,
    ),
    says: ['none', ['Note 1', 'Note 2', 'Note 3'], ['notes:1', 'notes:3', 'settings']],
  },
  {
    name: 'a Claude Code page with a queue of tasks',
    html: page(
      'Tasks',
      `
(async () => {
  const db = await claude.use('db')
  const tasks = db.collection('tasks')
  for (const [title, points, tags] of [['Sails', 3, ['sea']], ['Ropes', 1, ['sea', 'deck']], ['Bread', 2, ['galley']]]) {
    await tasks.add({ title, points, tags, done: false })
  }
  const titles = async (query) => (await query.get()).docs.map((doc) => doc.data().title)
  say(await titles(tasks.where('points', '>=', 2).orderBy('points', 'desc')))
  say(await titles(tasks.where('tags', 'array-contains', 'sea').orderBy('points').limit(1)))
  const [first] = (await tasks.where('title', 'in', ['Bread']).get()).docs
  await db.doc('tasks/' + first.id).update({ done: true })
  say(await titles(tasks.where('done', '!=', true).orderBy('title')))
  await db.doc('tasks/' + first.id).delete()
  say([(await db.doc('tasks/' + first.id).get()).exists, (await tasks.get()).docs.length])
  try { await db.doc('tasks/none').update({ done: true }) } catch (error) { say(error.code) }
})()`,
    ),
    says: [['Sails', 'Bread'], ['Ropes'], ['Ropes', 'Sails'], [false, 2], 'invalid_argument'],
  },
  {
    name: 'a GitHub Spark page that counts votes for all',
    html: page(
      'Poll',
      `
(async () => {
  const votes = (await spark.kv.get('votes')) ?? { tea: 0, coffee: 0 }
  await spark.kv.set('votes', { ...votes, tea: votes.tea + 1 })
  await spark.kv.set('closed', false)
  say(await spark.kv.get('votes'))
  say(await spark.kv.get('closed'))
  say((await spark.kv.keys()).toSorted())
})()`,
    ),
    says: [{ tea: 1, coffee: 0 }, false, ['closed', 'votes']],
  },
  {
    name: 'a ChatGPT app that subscribes as a store of React',
    html: page(
      'Checklist',
      `
const subscribe = (onChange) => {
  const listen = ({ detail }) => detail.globals.widgetState !== undefined && onChange()
  window.addEventListener('openai:set_globals', listen, { passive: true })
  return () => window.removeEventListener('openai:set_globals', listen)
}
const snapshot = () => window.openai?.widgetState ?? window.openai?.toolOutput ?? { items: [] }
let renders = 0
const stop = subscribe(() => { renders += 1; say(snapshot().items.length) });
(async () => {
  say(snapshot())
  await window.openai.setWidgetState({ items: ['Passport'] })
  await window.openai.setWidgetState({ items: ['Passport', 'Map'] })
  stop()
  await window.openai.setWidgetState({ items: [] })
  say([renders, snapshot().items.length, window.openai.safeArea.insets.top])
})()`,
    ),
    says: [{ items: [] }, 1, 2, [2, 0, 0]],
  },
  {
    name: 'a Puter page that keeps a cart',
    html: page(
      'Cart',
      `
(async () => {
  await puter.kv.set('cart', JSON.stringify([{ sku: 'oar', count: 2 }]))
  await puter.kv.set('cart:coupon', 'SEA10')
  const [line] = JSON.parse(await puter.kv.get('cart'))
  say(line.count)
  say(await puter.kv.list('cart*'))
  say(await puter.kv.get('missing'))
  say(await puter.kv.flush())
  say(await puter.kv.list())
})()`,
    ),
    says: [2, ['cart', 'cart:coupon'], null, true, []],
  },
]
