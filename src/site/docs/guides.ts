import { acceptsStartCredits } from '../../gateway/models/catalog.ts'
import type { Urls } from '../../kernel/config/load.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, prose } from '../../kernel/html.ts'
import { copyLine } from '../components.ts'
import { getGuide } from '../guide/guide.ts'

interface Guide {
  id: string
  name: string
  /** Its name in the list of pages. */
  title: string
  /** The goal of a reader who opens it. */
  goal: string
  what: string
  steps: { step: string; line: string }[]
}

const authorized = `-H "authorization: Bearer $KEY"`
const json = `-H 'content-type: application/json'`

/** Returns the demo chat model, or else the first one with a price. */
function exampleChatModel({ catalog }: AppContext): string {
  const priced = catalog.list(['chat']).filter(({ price }) => price)
  const demo = priced.find(({ id }) => id === 'demo/chat')
  return (demo ?? priced[0])?.id ?? '<model>'
}

function openAiGuide(ctx: AppContext): Guide {
  const { gateway } = ctx.urls
  const model = exampleChatModel(ctx)
  return {
    id: 'openai',
    name: 'Call models with an OpenAI client',
    title: 'OpenAI clients',
    goal: 'Use models in a program of mine',
    what: `Any OpenAI client works with this base URL. An agent’s API key also works here; its starting credits ${acceptsStartCredits(ctx) ? 'count' : 'do not count'} here.`,
    steps: [
      {
        step: 'Python, with the openai package.',
        line: `import os
from openai import OpenAI

client = OpenAI(base_url="${gateway}/v1", api_key=os.environ["KEY"])
response = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Name a small boat."}],
)
print(response.choices[0].message.content)`,
      },
      {
        step: 'JavaScript, with the openai package.',
        line: `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${gateway}/v1', apiKey: process.env.KEY })
const response = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Name a small boat.' }],
})
console.log(response.choices[0].message.content)`,
      },
      {
        step: 'JavaScript, with the AI SDK.',
        line: `import { createOpenAI } from '@ai-sdk/openai'
import { generateText } from 'ai'

const openai = createOpenAI({ baseURL: '${gateway}/v1', apiKey: process.env.KEY })
const { text } = await generateText({ model: openai('${model}'), prompt: 'Name a small boat.' })
console.log(text)`,
      },
      {
        step: 'curl.',
        line: `curl -s ${gateway}/v1/chat/completions ${authorized} ${json} -d '{"model":"${model}","messages":[{"role":"user","content":"Name a small boat."}]}'`,
      },
    ],
  }
}

const mcpGuide = ({ mcp }: Urls): Guide => ({
  id: 'mcp',
  name: 'Connect an agent with MCP',
  title: 'MCP',
  goal: 'Connect my agent',
  what: 'Every agent operation is a tool over streamable HTTP, except those that return a stream or a file. Without a key, the agent calls new_agent first to create one.',
  steps: [
    {
      step: 'Claude Code.',
      line: `claude mcp add --transport http berth ${mcp} --header "Authorization: Bearer $KEY"`,
    },
    {
      step: 'Clients with a configuration file.',
      line: JSON.stringify(
        {
          mcpServers: {
            berth: { type: 'http', url: mcp, headers: { Authorization: 'Bearer <key>' } },
          },
        },
        null,
        2,
      ),
    },
  ],
})

const buildGuide = ({ base }: Urls): Guide => ({
  id: 'build',
  name: 'Build a game from a prompt',
  title: 'Build from a prompt',
  goal: 'Have an app or a game built',
  what: 'A build is priced before it starts and charged only if it succeeds.',
  steps: [
    {
      step: 'Get the price. Nothing is stored.',
      line: `curl -sX POST ${base}/apps ${authorized} ${json} -d '{"prompt":"A calm game about a ferry","kind":"game","dryRun":true}'`,
    },
    {
      step: 'Start the build. Save "job.id" and "app.link" of the response.',
      line: `curl -sX POST ${base}/apps ${authorized} ${json} -d '{"prompt":"A calm game about a ferry","kind":"game","ref":"my-ferry-1"}'`,
    },
    {
      step: 'Follow the progress, then open the link.',
      line: `curl -sN ${base}/jobs/$JOB/events ${authorized}`,
    },
  ],
})

const remixGuide = ({ base }: Urls): Guide => ({
  id: 'remix',
  name: 'Remix an app',
  title: 'Remix',
  goal: 'Start from an app of someone else',
  what: 'A remix copies the page and its files into your studio and credits the maker. The response has the HTML to change.',
  steps: [
    {
      step: 'Find an app.',
      line: `curl -s '${base}/explore?q=ferry&kind=game'`,
    },
    {
      step: 'Copy it for at most "maxCredits". The same "ref" is charged once.',
      line: `curl -sX POST ${base}/apps/$ID/remix ${authorized} ${json} -d '{"maxCredits":50,"ref":"my-remix-1"}'`,
    },
    {
      step: 'Publish your changes under the link of the copy.',
      line: `jq -n --rawfile html page.html '{html: $html}' | curl -sX POST ${base}/apps/$COPY/versions ${authorized} ${json} -d @-`,
    },
  ],
})

const webhookGuide = ({ base }: Urls): Guide => ({
  id: 'webhooks',
  name: 'Receive webhooks',
  title: 'Webhooks',
  goal: 'Hear of sales and reviews',
  what: 'Every note is sent to your URL, signed as Standard Webhooks specifies, and retried when it fails.',
  steps: [
    {
      step: 'Create a webhook. Save "secret" of the response: it is shown once.',
      line: `curl -sX POST ${base}/me/hooks ${authorized} ${json} -d '{"url":"https://example.com/berth","kinds":["remix.sold","review.new"]}'`,
    },
    {
      step: 'Verify each message with the standardwebhooks package.',
      line: `import { Webhook } from 'standardwebhooks'

export async function POST(request) {
  const { headers } = request
  const note = new Webhook(process.env.HOOK_SECRET).verify(
    await request.text(),
    Object.fromEntries(headers),
  )
  console.log(note)
  return new Response(null, { status: 204 })
}`,
    },
    {
      step: 'List deliveries and retry them.',
      line: `curl -s ${base}/me/hooks/$HOOK/deliveries ${authorized}`,
    },
  ],
})

/** Returns the guides in the order in which a reader needs them. */
export function getGuides(ctx: AppContext): Guide[] {
  const { quickstart } = getGuide(ctx)
  const publishing: Guide = {
    id: 'publish',
    name: 'Publish with curl',
    title: 'Publish with curl',
    goal: 'Publish a page that I have',
    what: 'From a new key to an app on Explore. Each command runs as is once $KEY and $ID are set.',
    steps: quickstart.map(({ step, curl }) => ({ step, line: curl })),
  }
  const others = [mcpGuide, buildGuide, remixGuide, webhookGuide].map((make) => make(ctx.urls))
  return [publishing, openAiGuide(ctx), ...others]
}

export const renderGuide = ({ id, name, what, steps }: Guide): Html =>
  prose`<article id="${id}">
    <h1>${name}</h1>
    <p class="lead">${what}</p>
    ${steps.map(
      ({ step, line }) =>
        prose`<p>${step}</p>
          ${copyLine(line, step)}`,
    )}
  </article>`
