import { script, type Vector } from '../vector.ts'

const linked = `<link rel=preconnect href='{http}'><img src='{http}'>`
const worker = (code: string): string =>
  `new Worker(URL.createObjectURL(new Blob([${JSON.stringify(code)}],{type:'text/javascript'})))`

/** Ways through what the sandbox does for habits of generated code. */
export const habits: Vector[] = [
  {
    name: 'link preconnect in a declarative shadow root',
    page: `<div><template shadowrootmode=open>${linked}</template></div>`,
  },
  {
    name: 'declarative shadow root in odd spellings',
    page: ['"closed"', "'open'", 'closed/', '"closed"x', '\n=\nclosed']
      .map(
        (mode) =>
          `<div><template shadowrootmode${mode.startsWith('\n') ? '' : '='}${mode}>${linked}</template></div>`,
      )
      .join(''),
  },
  {
    name: 'press in a closed declarative shadow root',
    page: `<div><template shadowrootmode="closed"><a href="{http}" style="position:fixed;inset:0">x</a></template></div>`,
    hand: 'click',
  },
  {
    name: 'mark of an open shadow root',
    page: `<div><template shadow-root-mode=closed shadowrootmode=closed><a href="{http}" style="position:fixed;inset:0">x</a></template></div>`,
    hand: 'click',
  },
  {
    name: 'link after a script that is no script',
    page: `<textarea><script></textarea>${linked}<script>'<link>'</script>`,
  },
  {
    name: 'link in a comment in a script',
    page: `<script><!--<script>'<link>'</script>--></script>${linked}`,
  },
  {
    name: 'script with an attribute that is not closed',
    page: `<script a="><link>">'<link>'</script>${linked}`,
  },
  {
    name: 'link that a worker text holds',
    page: script(`document.body.insertAdjacentHTML('beforeend',"${linked}")//<link>`),
  },
  {
    name: 'eval in a blob worker that fetches',
    page: script(worker("new Function(\"fetch('{http}',{mode:'no-cors'})\")()")),
  },
  {
    name: 'worker in a worker that fetches',
    page: script(worker(worker("fetch('{http}',{mode:'no-cors'})"))),
  },
  {
    name: 'importScripts in a worker with a policy',
    page: script(worker("importScripts('{http}')")),
  },
  {
    name: 'fragment that is no fragment',
    page: script("location.href = '#'.slice(1) + '{http}'"),
  },
  {
    name: 'databases of other apps',
    page: script(
      "addEventListener('message',(e)=>{for(const d of e.data?.databases??[])if(d.name==='kept')top.postMessage({got:1},'*')});" +
        "for(let w=self;w!==w.parent;)(w=w.parent).postMessage({type:'service:databases',id:'other'},'*');" +
        "indexedDB.databases?.().then(l=>{if(l.some(d=>d.name==='host'))top.postMessage({got:1},'*')}).catch(()=>0)",
    ),
    by: 'told',
  },
]
