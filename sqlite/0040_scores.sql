CREATE TABLE `app_scores` (
	`app` text NOT NULL,
	`board` text NOT NULL,
	`lowest` integer NOT NULL,
	`player` text NOT NULL,
	`score` real NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`app`, `board`, `lowest`, `player`)
);
--> statement-breakpoint
CREATE INDEX `app_scores_order` ON `app_scores` (`app`,`board`,`lowest`,`score`);