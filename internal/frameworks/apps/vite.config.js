import { svelte } from '@sveltejs/vite-plugin-svelte';
import vue from '@vitejs/plugin-vue';

const isCustomElement = (tag) => tag === 'talkback-comments';
const vueWithElement = vue({ template: { compilerOptions: { isCustomElement } } });

export default {
  plugins: [vueWithElement, svelte()],
  build: { rolldownOptions: { input: ['react.html', 'french.html', 'vue.html', 'svelte.html'] } },
};
