ALTER TABLE "assets" ADD COLUMN "br" text;--> statement-breakpoint
ALTER TABLE "assets" ADD COLUMN "zstd" text;--> statement-breakpoint
ALTER TABLE "versions" ADD COLUMN "page" text;--> statement-breakpoint
CREATE INDEX "assets_br" ON "assets" USING btree ("br");--> statement-breakpoint
CREATE INDEX "assets_zstd" ON "assets" USING btree ("zstd");