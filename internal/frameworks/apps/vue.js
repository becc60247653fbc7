import { createApp } from 'vue';
import Reviews from './Reviews.vue';

createApp(Reviews, { product: 'lamp' }).mount('#shop');
