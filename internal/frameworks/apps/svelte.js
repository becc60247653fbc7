import { mount } from 'svelte';
import Reviews from './Reviews.svelte';

mount(Reviews, { target: document.getElementById('shop'), props: { product: 'lamp' } });
