CREATE TABLE `sponsors` (
	`app` text PRIMARY KEY NOT NULL,
	`daily_cap` integer NOT NULL,
	`player_cap` integer NOT NULL,
	`at` integer NOT NULL
);
