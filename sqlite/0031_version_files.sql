ALTER TABLE `assets` ADD `br` text;--> statement-breakpoint
ALTER TABLE `assets` ADD `zstd` text;--> statement-breakpoint
CREATE INDEX `assets_br` ON `assets` (`br`);--> statement-breakpoint
CREATE INDEX `assets_zstd` ON `assets` (`zstd`);--> statement-breakpoint
ALTER TABLE `versions` ADD `page` text;