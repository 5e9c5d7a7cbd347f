ALTER TABLE `reports` ADD `person` text;--> statement-breakpoint
ALTER TABLE `notes` ADD `messages` text;--> statement-breakpoint
ALTER TABLE `people` ADD `language` text;