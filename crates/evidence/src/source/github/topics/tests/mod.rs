mod about;
mod kept;
mod shapes;
