import type { SampleData } from './sample-data.ts'

/** The public pages by the names of their screenshots. */
export const publicPages = ({ id, handle, remixed }: SampleData, down: string) => ({
  home: '/',
  explore: '/explore',
  games: '/explore?kind=game&sort=trending',
  search: '/explore?q=boat',
  nothing: '/explore?q=zeppelin',
  item: `/explore/${id}`,
  remixed: `/explore/${remixed}`,
  maker: `/explore/@${handle}`,
  catalog: '/catalogue',
  audio: '/catalogue?type=audio',
  report: `/report/${id}`,
  missing: '/nowhere',
  refused: '/explore?cursor=odd',
  gone: '/claim/AAAA-AAAA-AAAA',
  docs: '/docs',
  references: '/api/docs',
  app: `/a/${id}`,
  'app-down': `/a/${down}`,
  'app-nowhere': '/a/AAAAAAAAAAAA',
  'sign-in': '/sign-in',
  'sign-up': '/sign-up',
  'sign-back': '/recover',
})
