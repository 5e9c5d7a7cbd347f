import { blob, doctype, type Need, say } from './pages.ts'

/** What libraries need that pages inline. */
export const libraries: Need[] = [
  {
    name: 'workers that are modules, and import one',
    page:
      doctype +
      say(
        `(async()=>{class Own extends Worker{};const part=${blob('export const a=8')};const text='import {a} from "'+part+'";onmessage=(e)=>postMessage(a+e.data+"é")';const at=URL.createObjectURL(new Blob([text],{type:'text/javascript'}));const w=new Own(at,{type:'module'});URL.revokeObjectURL(at);w.postMessage(1);return[w instanceof Own,await new Promise((r,n)=>{w.onmessage=(e)=>r(e.data);w.onerror=()=>n('failed')})]})()`,
      ),
    says: [true, '9é'],
  },
]
