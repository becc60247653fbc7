// The theme: VitePress's own in the product's colours, without fonts, and with diagrams.
import DefaultTheme from 'vitepress/theme-without-fonts'
import Diagram from './Diagram.vue'
import Home from './Home.vue'
import './tokens.css'
import './style.css'

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => app.component('Diagram', Diagram).component('Home', Home),
}
