ALTER TABLE "gateway_files" ADD COLUMN "expires" bigint;--> statement-breakpoint
CREATE INDEX "gateway_files_expires" ON "gateway_files" USING btree ("expires");