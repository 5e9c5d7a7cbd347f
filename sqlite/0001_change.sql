ALTER TABLE `versions` ADD `br_level` integer DEFAULT 5 NOT NULL;--> statement-breakpoint
CREATE INDEX `versions_unpolished` ON `versions` (`created`) WHERE "versions"."br_level" = 5;