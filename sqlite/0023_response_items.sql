CREATE TABLE `response_items` (
	`account` text NOT NULL,
	`id` text NOT NULL,
	`item` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`account`, `id`)
);
--> statement-breakpoint
CREATE INDEX `response_items_at` ON `response_items` (`at`);