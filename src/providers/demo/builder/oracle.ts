import { type Content, page } from './content.ts'

const answers = {
  ball: 'Yes.|No.|Without a doubt.|Ask again later.|Very likely.|Better not.|It looks good.|I doubt it.|Certainly.|Not today.|Count on it.|Think it over.',
  excuse:
    'My cat|The neighbor|A seagull|My phone|The train|My alarm clock|The washing machine|A very small storm;hid|borrowed|flooded|misplaced|rebooted|mailed away|sat on;my keys.|the notes.|my only shoes.|the whole kitchen.|my calendar.|the front gate.|tomorrow’s lunch.',
  compliment:
    'You are|Everyone says you are|Today you are|As always, you are;a great listener.|braver than you think.|really good at this.|kind to everybody.|a joy to work with.|full of good ideas.|quick to learn.',
  dinner:
    'Spicy|Quick|Creamy|Crispy|Fresh|Oven-baked;vegetable|chickpea|mushroom|chicken|tofu|lentil|salmon;curry|pasta|tacos|soup|salad|noodles|pie|rice bowl',
  name: 'Silver|Little|Brave|Northern|Hidden|Golden|Quiet|Wild;Fox|River|Lantern|Harbor|Willow|Comet|Meadow|Anchor',
  idea: 'A story about|A drawing of|A game with|A song about;a lighthouse keeper|two clocks|a lost map|a tiny robot|the last train|a garden on the moon;who forgets a name.|in the rain.|and an unexpected guest.|before sunrise.|that nobody can see.',
  joke: 'What do you call a fish without an eye? A fsh.|Why did the scarecrow win a prize? It was outstanding in its field.|I would tell a joke about paper, but it is tearable.|Parallel lines have so much in common. A pity that they never meet.|Why do bees have sticky hair? They use honeycombs.|What is brown and sticky? A stick.|I used to be a banker, but I lost interest.|Why did the bicycle fall over? It was two tired.',
  quote:
    'Well begun is half done. (Aristotle)|The obstacle is the way. (Marcus Aurelius)|Fortune favors the bold. (Virgil)|He who has a why can bear almost any how. (Nietzsche)|No man ever steps in the same river twice. (Heraclitus)|Simplicity is the ultimate sophistication. (proverb)|A journey of a thousand miles begins with a single step. (Laozi)|The unexamined life is not worth living. (Socrates)',
  fortune:
    'A short walk|An old friend|A small risk|Patience|A new habit|A kind word;brings|opens|will show you|leads to;a good surprise.|the next step.|more than you expect.|the answer you look for.',
}

/** Creates the content of a generator of sentences: answers, excuses, names, ideas. */
export function createOracle(text: string): Content {
  const from = (title: string, lead: string, action: string, list: string, first = '?'): Content =>
    page(title, lead, { action, first, lists: list.split(';') })
  if (/\bexcuse/.test(text))
    return from('Excuse generator', 'For every occasion.', 'Excuse me', answers.excuse)
  if (/\bcompliment/.test(text))
    return from('Compliments', 'You deserve one.', 'One more', answers.compliment)
  if (/\b(eat|cook|dinner)\b/.test(text))
    return from('What to eat', 'Hungry and undecided?', 'Decide', answers.dinner)
  if (/\bname generator\b/.test(text))
    return from('Name generator', 'Names for bands, boats and heroes.', 'New name', answers.name)
  if (/\b(idea|prompt|story)\b/.test(text))
    return from('Idea generator', 'Something to begin with.', 'New idea', answers.idea)
  if (/\bjokes?\b/.test(text)) return from('Jokes', 'Please laugh.', 'Another one', answers.joke)
  if (/\bquotes?\b/.test(text))
    return from('Quotes', 'Words to think about.', 'Another one', answers.quote)
  if (/\bfortune/.test(text))
    return from('Fortune teller', 'What does today hold?', 'Tell me', answers.fortune)
  return from(
    'Magic ball',
    'Think of a question that has yes or no as its answer.',
    'Ask',
    answers.ball,
    '8',
  )
}
