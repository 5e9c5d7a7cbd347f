CREATE TABLE `collection_items` (
	`collection` text NOT NULL,
	`item` text NOT NULL,
	`added` integer NOT NULL,
	PRIMARY KEY(`collection`, `item`)
);
--> statement-breakpoint
CREATE INDEX `collection_items_added` ON `collection_items` (`collection`,`added`,`item`);--> statement-breakpoint
CREATE TABLE `collections` (
	`id` text PRIMARY KEY NOT NULL,
	`maker` text NOT NULL,
	`title` text NOT NULL,
	`description` text NOT NULL,
	`created` integer NOT NULL,
	`updated` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `collections_maker` ON `collections` (`maker`,`created`,`id`);