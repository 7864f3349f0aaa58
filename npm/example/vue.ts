// An album in Vue. In a template it is `<Can action="edit" :resource="album"><button>edit</button></Can>`.

import { defineComponent, h, type PropType } from "vue";
import type { Principal, Resource } from "wardgate";
import { Can, provideWardgate, useDecision, type LazyPdp, type PageDecisions } from "wardgate/vue";

const Album = defineComponent({
  props: { album: { type: Object as PropType<Resource>, required: true } },
  setup(props) {
    const view = useDecision("view", () => props.album);
    const edit = { default: () => h("button", "edit"), fallback: () => "look only", loading: () => "…" };
    return () => view.value.state === "denied" ? "not for you" : h(Can, { action: "edit", resource: props.album }, edit);
  },
});

export const Page = defineComponent({
  props: {
    album: { type: Object as PropType<Resource>, required: true },
    principal: { type: Object as PropType<Principal | null>, default: null },
    decisions: Object as PropType<PageDecisions>,
    pdp: [Object, Function] as PropType<LazyPdp>,
  },
  setup(props) {
    provideWardgate(() => ({ principal: props.principal, decisions: props.decisions, pdp: props.pdp }));
    return () => h(Album, { album: props.album });
  },
});
