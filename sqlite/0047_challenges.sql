CREATE TABLE `app_challenges` (
	`app` text NOT NULL,
	`id` text NOT NULL,
	`player` text NOT NULL,
	`board` text NOT NULL,
	`lowest` integer NOT NULL,
	`seed` integer NOT NULL,
	`score` real NOT NULL,
	`created` integer NOT NULL,
	`best` real,
	`best_player` text,
	`best_at` integer,
	PRIMARY KEY(`app`, `id`)
);
--> statement-breakpoint
CREATE INDEX `app_challenges_player` ON `app_challenges` (`app`,`player`,`created`);--> statement-breakpoint
CREATE INDEX `app_challenges_created` ON `app_challenges` (`created`);