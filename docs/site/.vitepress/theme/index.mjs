// The theme without its web font: the site loads nothing from elsewhere, and the system's fonts are there already.
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';

export default DefaultTheme;
