import { clientCommand, type ClientFlags, connect } from '../connection.ts'
import { CommandFailure, isTerminal, printNote, printValue } from '../terminal.ts'

const openers: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

export const open = clientCommand('open', 'open an app in the browser')
  .argument('[id]', 'the app; default: the newest')
  .option('-n, --no-browser', 'only print the link')
  .action(async (id: string | undefined, flags: ClientFlags & { browser: boolean }) => {
    const { berth } = await connect(flags)
    const app =
      id === undefined
        ? (await berth.agent.listApps({ limit: 1 })).apps[0]
        : (await berth.agent.getApp({ id })).app
    if (!app) throw new CommandFailure('You have no apps yet. Publish one: berth publish <file>')
    if (flags.browser && isTerminal()) {
      await printNote(`Opening ${app.link} in your browser.`)
      const opener = openers[process.platform] ?? ['xdg-open']
      Bun.spawn([...opener, app.link], { stdio: ['ignore', 'ignore', 'ignore'] }).unref()
    }
    await printValue({ id: app.id, link: app.link }, app.link, flags.json)
  })
